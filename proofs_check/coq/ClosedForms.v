(* The closed forms of `bounds/shifted_interpolation.py`, from the least price of shifts. *)
From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws Shift.
Import ListNotations.
Local Notation Forall := List.Forall.
Open Scope R_scope.

(* gaps s while the record is there, then none *)
Definition present_then_absent (s : R) (T K : nat) : list R := repeat s T ++ repeat 0 K.

(* mu^2(T, K) as printed: (s^2/t^2) c^2K (1 - c^T)^2 (1 - c^2) / ((1 - c)^2 (1 - c^(2(T+K)))) *)
Definition gdp_squared (c s v : R) (T K : nat) : R :=
  (s * s / v) * c ^ (2 * K) * ((1 - c ^ T) * (1 - c ^ T)) * (1 - c * c) / ((1 - c) * (1 - c) * (1 - c ^ (2 * (T + K)))).

(* its supremum over T *)
Definition gdp_limit_squared (c s v : R) (K : nat) : R := (s * s / v) * c ^ (2 * K) * (1 + c) / (1 - c).

(* from starts z apart, with the gap s at every step *)
Definition gdp_apart_squared (c s v z : R) (K : nat) : R :=
  (c ^ K * z + s * (1 - c ^ K) / (1 - c)) * (c ^ K * z + s * (1 - c ^ K) / (1 - c)) * (1 - c * c) / (v * (1 - c ^ (2 * K))).

Lemma repeat_never_rising s T K : 0 <= s -> never_rising (present_then_absent s T K).
Proof.
  intros Hs. unfold present_then_absent.
  assert (Z : never_rising (repeat 0 K)).
  { induction K as [|K IH]; simpl; auto. split; [lra|]. split; auto. destruct K; simpl; auto; lra. }
  induction T as [|T IH]; simpl; auto. split; auto. split; auto.
  destruct T; simpl; [destruct K; simpl; auto | lra].
Qed.

Section Forms.
Variable c : R.
Hypothesis c_range : 0 <= c < 1.

Lemma pow_below_1 n : (0 < n)%nat -> c ^ n < 1.
Proof.
  intros H. destruct n; [lia|]. simpl. assert (0 <= c ^ n <= 1); [|nra].
  split; [apply pow_le; lra|]. rewrite <- (pow1 n). apply pow_incr; lra.
Qed.

Lemma series_closed t : series c t = (1 - c ^ t) / (1 - c).
Proof. induction t as [|t IH]; simpl; [field; lra | rewrite IH; field; lra]. Qed.

Lemma spread_closed t : spread c t = (1 - c ^ (2 * t)) / (1 - c * c).
Proof.
  induction t as [|t IH].
  - simpl. field. nra.
  - rewrite spread_S, IH. replace (2 * S t)%nat with (S (S (2 * t))) by lia.
    replace (2 * t)%nat with (t + t)%nat by lia. rewrite <- !tech_pow_Rmult, pow_add. field. nra.
Qed.

Lemma reach_none z K : reach c z (repeat 0 K) = c ^ K * z.
Proof. revert z; induction K as [|K IH]; intros z; simpl; [ring | rewrite IH; ring]. Qed.

Lemma reach_repeat z s T : reach c z (repeat s T) = c ^ T * z + s * series c T.
Proof. revert z; induction T as [|T IH]; intros z; simpl; [ring | rewrite IH; ring]. Qed.

Lemma reach_app z l l' : reach c z (l ++ l') = reach c (reach c z l) l'.
Proof. revert z; induction l; simpl; auto. Qed.

Lemma reach_closed z s T K :
  reach c z (present_then_absent s T K) = c ^ K * (c ^ T * z + s * (1 - c ^ T) / (1 - c)).
Proof. unfold present_then_absent. rewrite reach_app, (reach_repeat z s T), reach_none, series_closed. field. lra. Qed.

Lemma length_closed s T K : length (present_then_absent s T K) = (T + K)%nat.
Proof. unfold present_then_absent. now rewrite app_length, !repeat_length. Qed.

Context {I : coordinates} (M : measure).

Theorem noisy_steps_cost v s T K (history : list (@step I)) x y z : 0 < v -> 0 <= s -> (0 < T + K)%nat ->
  Forall (valid M) history -> like c v history (present_then_absent s T K) -> norm (vsub x y) <= z ->
  cost M (c ^ (2 * K) * ((c ^ T * z + s * (1 - c ^ T) / (1 - c)) * (c ^ T * z + s * (1 - c ^ T) / (1 - c))) * (1 - c * c)
          / (v * (1 - c ^ (2 * (T + K)))))
    (run one history x) (run two history y).
Proof.
  intros Hv Hs TK H L Hz.
  assert (E : c ^ (2 * K) * ((c ^ T * z + s * (1 - c ^ T) / (1 - c)) * (c ^ T * z + s * (1 - c ^ T) / (1 - c))) * (1 - c * c)
          / (v * (1 - c ^ (2 * (T + K)))) =
      reach c z (present_then_absent s T K) * reach c z (present_then_absent s T K)
       / (spread c (length (present_then_absent s T K)) * v)).
  { rewrite reach_closed, length_closed, spread_closed. replace (2 * K)%nat with (K + K)%nat by lia. rewrite pow_add.
    generalize (pow_below_1 (2 * (T + K)) ltac:(lia)). intros. field. repeat split; try lra; nra. }
  rewrite E. apply (shifted_interpolation_best c ltac:(lra) M v history _ x y z); auto.
  - now apply repeat_never_rising.
  - intros N. apply (f_equal (@length R)) in N. rewrite length_closed in N. simpl in N. lia.
Qed.

(* from a common start *)
Theorem noisy_steps_cost_from_one_start v s T K (history : list (@step I)) (rho : Law (vec I)) :
  0 < v -> 0 <= s -> (0 < T + K)%nat ->
  Forall (valid M) history -> like c v history (present_then_absent s T K) ->
  cost M (gdp_squared c s v T K) (bind rho (run one history)) (bind rho (run two history)).
Proof.
  intros Hv Hs TK H L. generalize (pow_below_1 (2 * (T + K)) ltac:(lia)) (pow_nonneg c ltac:(lra) (2 * K)); intros.
  apply cost_mixture.
  - unfold gdp_squared. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; repeat apply Rmult_lt_0_compat; lra].
    assert (0 <= s * s / v) by (apply Rmult_le_pos; [apply Rle_0_sqr | left; now apply Rinv_0_lt_compat]).
    assert (0 <= (1 - c ^ T) * (1 - c ^ T)) by apply Rle_0_sqr.
    apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos|]|]; try assumption; nra.
  - intros x. replace (gdp_squared c s v T K) with
      (c ^ (2 * K) * ((c ^ T * 0 + s * (1 - c ^ T) / (1 - c)) * (c ^ T * 0 + s * (1 - c ^ T) / (1 - c))) * (1 - c * c)
          / (v * (1 - c ^ (2 * (T + K))))) by (unfold gdp_squared; field; repeat split; lra).
    apply noisy_steps_cost; auto. replace (vsub x x) with (vzero : vec I) by vec_ring. rewrite norm_zero; lra.
Qed.

Lemma pow_squared n : c ^ (2 * n) = c ^ n * c ^ n.
Proof. replace (2 * n)%nat with (n + n)%nat by lia. apply pow_add. Qed.

(* The figure rises with T to its limit, and no number of steps costs more. *)
Theorem gdp_below_limit s v T K : 0 < v -> (0 < T)%nat -> gdp_squared c s v T K <= gdp_limit_squared c s v K.
Proof.
  intros Hv HT. unfold gdp_squared, gdp_limit_squared.
  generalize (pow_below_1 T HT) (pow_nonneg c ltac:(lra) T) (pow_nonneg c ltac:(lra) (2 * K)) (pow_below_1 (2 * (T + K)) ltac:(lia)); intros.
  assert (F : (1 - c ^ T) * (1 - c ^ T) <= 1 - c ^ (2 * (T + K))).
  { assert (c ^ (2 * (T + K)) <= c ^ T) by (apply pow_falls; [lra | lia]). nra. }
  replace (s * s / v * c ^ (2 * K) * ((1 - c ^ T) * (1 - c ^ T)) * (1 - c * c) / ((1 - c) * (1 - c) * (1 - c ^ (2 * (T + K)))))
    with (s * s / v * c ^ (2 * K) * (1 + c) / (1 - c) * ((1 - c ^ T) * (1 - c ^ T) / (1 - c ^ (2 * (T + K)))))
    by (field; repeat split; lra).
  rewrite <- (Rmult_1_r (s * s / v * c ^ (2 * K) * (1 + c) / (1 - c))) at 2.
  apply Rmult_le_compat_l.
  - assert (0 <= s * s / v) by (apply Rmult_le_pos; [apply Rle_0_sqr | left; now apply Rinv_0_lt_compat]).
    apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [apply Rmult_le_pos|]; try assumption; lra.
  - apply (Rmult_le_reg_r (1 - c ^ (2 * (T + K)))); [lra|]. field_simplify; lra.
Qed.

Theorem gdp_tends_to_limit s v K : 0 < v -> is_lim_seq (fun T => gdp_squared c s v T K) (gdp_limit_squared c s v K).
Proof.
  intros Hv.
  assert (L : is_lim_seq (fun n => c ^ n) 0) by (apply is_lim_seq_geom; rewrite Rabs_pos_eq; lra).
  set (h := fun u => s * s / v * c ^ (2 * K) * ((1 - u) * (1 - u)) * (1 - c * c) / ((1 - c) * (1 - c) * (1 - u * u * c ^ (2 * K)))).
  apply (is_lim_seq_ext (fun n => h (c ^ n))).
  { intros n. unfold h, gdp_squared. replace (2 * (n + K))%nat with (n + n + 2 * K)%nat by lia. now rewrite !pow_add. }
  replace (gdp_limit_squared c s v K) with (h 0) by (unfold h, gdp_limit_squared; field; repeat split; lra).
  apply (is_lim_seq_continuous h (fun n => c ^ n) 0); auto.
  apply continuity_pt_filterlim. apply (ex_derive_continuous h). unfold h. auto_derive. rewrite Rmult_0_l, Rmult_0_l. nra.
Qed.

(* Deletion steps from the budget: K >= log(mu / mu') / log(1/c) is enough. *)
Theorem deletion_steps_enough before after K :
  0 < c -> 0 < after -> 0 < before -> ln (before / after) / - ln c <= INR K -> c ^ K * before <= after.
Proof.
  intros Hc Ha Hb H.
  assert (Lc : 0 < - ln c) by (rewrite <- ln_1 at 1; generalize (ln_increasing c 1 Hc ltac:(lra)); rewrite ln_1; lra).
  assert (H' : ln (before / after) <= INR K * - ln c).
  { apply (Rmult_le_reg_r (/ - ln c)); [now apply Rinv_0_lt_compat|]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. exact H. }
  rewrite ln_div in H' by assumption.
  rewrite <- (exp_ln after Ha), <- (exp_ln before Hb) at 1. rewrite <- (Rpower_pow K c Hc). unfold Rpower. rewrite <- exp_plus.
  destruct (Rle_lt_or_eq_dec (INR K * ln c + ln before) (ln after)) as [L|E]; [lra | left; now apply exp_increasing | rewrite E; lra].
Qed.

(* and no smaller number is *)
Theorem deletion_steps_least before after K :
  0 < c -> 0 < after -> 0 < before -> c ^ K * before <= after -> ln (before / after) / - ln c <= INR K.
Proof.
  intros Hc Ha Hb H.
  assert (Lc : 0 < - ln c) by (generalize (ln_increasing c 1 Hc ltac:(lra)); rewrite ln_1; lra).
  apply (Rmult_le_reg_r (- ln c)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  change (before * / after) with (before / after). rewrite ln_div by assumption.
  assert (P : 0 < c ^ K) by now apply pow_lt.
  assert (ln (c ^ K * before) <= ln after).
  { destruct H as [H| ->]; [left; apply ln_increasing; nra | lra]. }
  rewrite ln_mult, <- (Rpower_pow K c Hc) in H0 by assumption. unfold Rpower in H0. rewrite ln_exp in H0. lra.
Qed.

End Forms.

(* --- in the parameters of the package: step size, strong convexity m, sensitivity D, noise variance, records n --- *)

Section Parameters.
Variables (eta m D sigma2 n : R).
Hypotheses (eta_pos : 0 < eta) (m_pos : 0 < m) (sigma_pos : 0 < sigma2) (n_pos : 0 < n) (contracts : eta * m < 1).

Let c := 1 - eta * m.
Let s := eta * D / n.
Let v := 2 * eta * sigma2.

(* `gdp_limit`: D^2 (1 - eta m/2) / (m sigma^2 n^2), and c^2K times that after K clean steps *)
Theorem gdp_limit_parameters K :
  gdp_limit_squared c s v K = c ^ (2 * K) * (D * D * (1 - eta * m / 2) / (m * sigma2 * (n * n))).
Proof. unfold gdp_limit_squared, s, v. generalize (c ^ (2 * K)); intros p. unfold c. field. repeat split; try lra. nra. Qed.

(* `noise_variance`: the least noise with this limit *)
Theorem noise_variance_calibrates mu : 0 < mu ->
  sigma2 = D * D * (1 - eta * m / 2) / (m * (mu * mu) * (n * n)) -> gdp_limit_squared c s v 0 = mu * mu.
Proof.
  intros Hm E. rewrite gdp_limit_parameters. simpl. 
  assert (X : sigma2 * (m * (mu * mu) * (n * n)) = D * D * (1 - eta * m / 2)) by (rewrite E; field; repeat split; lra).
  rewrite <- X. field. repeat split; lra.
Qed.

(* `minimiser_dp_gdp`: z = D/(mn) + 2 gamma/m, the gap at every step *)
Theorem minimiser_parameters gamma K : (0 < K)%nat ->
  gdp_apart_squared c s v (D / (m * n) + 2 * gamma / m) K =
  (D + 2 * gamma * n * c ^ K) * (D + 2 * gamma * n * c ^ K) * (1 - eta * m / 2) / (m * sigma2 * (n * n) * (1 - c ^ (2 * K))).
Proof.
  intros HK. generalize (pow_below_1 c ltac:(unfold c; nra) (2 * K) ltac:(lia)). unfold gdp_apart_squared, s, v.
  generalize (c ^ (2 * K)) (c ^ K); intros p r H. unfold c. field. repeat split; try lra. nra.
Qed.
End Parameters.
