(* Shifted interpolation (Bok, Su & Altschuler 2024) for any sequence of contracting noisy steps, and the least price of shifts. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws.
Import ListNotations.
Local Notation Forall := List.Forall.
Open Scope R_scope.

Section Shift.
Context {I : coordinates} (M : measure).
Notation V := (vec I).

(* One step in two worlds. It may carry two points at distance z to points at distance c z + g - a, at the price a^2 / v:
   world 1's law is a law P moved by a fixed vector, and P is a^2 / v away from world 2's. *)
Definition moves (c g v : R) (one two : V -> Law V) : Prop :=
  forall x y z a, norm (vsub x y) <= z -> 0 <= a -> 0 <= c * z + g - a ->
  exists P w, norm w <= c * z + g - a /\ one x = bind P (fun p => ret (vadd p w)) /\ cost M (a * a / v) P (two y).

Record step := { factor : R; gap_of : R; variance : R; one : V -> Law V; two : V -> Law V }.

Definition valid (s : step) : Prop := 0 < variance s /\ moves (factor s) (gap_of s) (variance s) (one s) (two s).

(* a step of normal noise, whose maps take points at distance z to points at distance c z + g at most *)
Lemma normal_step c g t (f h : V -> V) :
  0 < t -> 0 <= c -> (forall x y, norm (vsub (f x) (h y)) <= c * norm (vsub x y) + g) ->
  moves c g (t * t) (fun x => gauss (f x) t) (fun y => gauss (h y) t).
Proof.
  intros Ht Hc L x y z a Hz Ha Hr.
  assert (B : norm (vsub (f x) (h y)) <= a + (c * z + g - a)).
  { generalize (L x y). assert (c * norm (vsub x y) <= c * z) by now apply Rmult_le_compat_l. lra. }
  destruct (split_vector _ _ _ Ha Hr B) as [u [Hu Hw]].
  exists (gauss (vadd (h y) u) t), (vsub (vsub (f x) (h y)) u). split; [exact Hw|]. split.
  - rewrite gauss_shift. f_equal. vec_ring.
  - apply cost_gauss; auto. replace (vsub (vadd (h y) u) (h y)) with u by vec_ring. exact Hu.
Qed.

Fixpoint run (which : step -> V -> Law V) (history : list step) (x : V) : Law V :=
  match history with nil => ret x | s :: rest => bind (which s x) (run which rest) end.

(* shifts a_k >= 0 that keep z_k = c_k z_{k-1} + g_k - a_k >= 0 and end at z_t = 0 *)
Fixpoint feasible (z : R) (history : list step) (shifts : list R) : Prop :=
  match history, shifts with
  | nil, nil => z <= 0
  | s :: history, a :: shifts =>
      0 <= a /\ 0 <= factor s * z + gap_of s - a /\ feasible (factor s * z + gap_of s - a) history shifts
  | _, _ => False
  end.

Fixpoint price (history : list step) (shifts : list R) : R :=
  match history, shifts with
  | s :: history, a :: shifts => a * a / variance s + price history shifts
  | _, _ => 0
  end.

Lemma price_nonneg history shifts : Forall valid history -> 0 <= price history shifts.
Proof.
  revert shifts; induction history as [|s history IH]; intros [|a shifts] H; simpl; try lra.
  inversion H as [|? ? [Hv _] Hr]; subst. specialize (IH shifts Hr).
  assert (0 <= a * a / variance s) by (apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat]). lra.
Qed.

Theorem shifted_interpolation history shifts :
  Forall valid history -> forall x y z, norm (vsub x y) <= z -> feasible z history shifts ->
  cost M (price history shifts) (run one history x) (run two history y).
Proof.
  revert shifts; induction history as [|s history IH]; intros [|a shifts] H x y z Hz F; simpl in F; try contradiction.
  - simpl. assert (E : vsub x y = vzero) by (apply norm_zero_eq; lra).
    replace x with y; [apply cost_same|]. apply functional_extensionality; intros i.
    apply (f_equal (fun v => v i)) in E. unfold vsub, vzero in E. lra.
  - destruct F as [Ha [Hr F]]. inversion H as [|? ? [Hv Hm] Hrest]; subst.
    destruct (Hm x y z a Hz Ha Hr) as [P [w [Hw [E C]]]]. simpl. rewrite E, bind_bind.
    apply cost_bind; auto.
    + apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat].
    + now apply price_nonneg.
    + intros p. rewrite bind_ret. apply (IH shifts Hrest _ _ (factor s * z + gap_of s - a)); auto.
      replace (vsub (vadd p w) p) with w by vec_ring. exact Hw.
Qed.

(* Any law of the start: where both worlds draw one start, its law is nobody's concern. *)
Corollary shifted_interpolation_from history shifts (rho : Law V) :
  Forall valid history -> feasible 0 history shifts ->
  cost M (price history shifts) (bind rho (run one history)) (bind rho (run two history)).
Proof.
  intros H F. apply cost_mixture; [now apply price_nonneg|]. intros x.
  apply (shifted_interpolation history shifts H x x 0); auto.
  replace (vsub x x) with (vzero : V) by vec_ring. rewrite norm_zero; lra.
Qed.

End Shift.

Arguments factor {I}. Arguments gap_of {I}. Arguments variance {I}. Arguments one {I}. Arguments two {I}.

(* --- the least price, for one factor c and one variance v --- *)

Section Least.
Variable c : R.
Hypothesis c_range : 0 <= c <= 1.

(* what is to be spent: c^t z + sum of s_k c^(t-k) *)
Fixpoint reach (z : R) (gaps : list R) : R :=
  match gaps with nil => z | s :: gaps => reach (c * z + s) gaps end.

(* 1 + c^2 + ... + c^(2(t-1)) *)
Fixpoint spread (t : nat) : R := match t with O => 0 | S t => c ^ (2 * t) + spread t end.

Fixpoint never_rising (gaps : list R) : Prop :=
  match gaps with nil => True | s :: gaps => 0 <= s /\ (match gaps with nil => True | s' :: _ => s' <= s end) /\ never_rising gaps end.

Lemma pow_nonneg n : 0 <= c ^ n.
Proof. apply pow_le; lra. Qed.

Lemma pow_falls m n : (m <= n)%nat -> c ^ n <= c ^ m.
Proof.
  intros H. replace n with (m + (n - m))%nat by lia. rewrite pow_add.
  assert (c ^ (n - m) <= 1). { rewrite <- (pow1 (n - m)). apply pow_incr; lra. }
  generalize (pow_nonneg m). nra.
Qed.

Lemma spread_nonneg t : 0 <= spread t.
Proof. induction t; simpl; [lra | generalize (pow_nonneg (t + (t + 0))); lra]. Qed.

Lemma spread_S n : spread (S n) = c ^ n * c ^ n + spread n.
Proof. simpl. rewrite Nat.add_0_r, pow_add. ring. Qed.

Lemma spread_pos t : 0 < spread (S t).
Proof.
  induction t as [|t IH]; [simpl; lra|].
  change (spread (S (S t))) with (c ^ (2 * S t) + spread (S t)). generalize (pow_nonneg (2 * S t)); lra.
Qed.

Lemma reach_linear z gaps : reach z gaps = c ^ length gaps * z + reach 0 gaps.
Proof.
  revert z; induction gaps as [|s gaps IH]; intros z; simpl; [ring|].
  rewrite (IH (c * z + s)), (IH (c * 0 + s)). ring.
Qed.

Lemma reach_nonneg z gaps : 0 <= z -> never_rising gaps -> 0 <= reach z gaps.
Proof.
  revert z; induction gaps as [|s gaps IH]; simpl; intros z Hz H; auto.
  apply IH; [nra | tauto].
Qed.

(* 1 + c + ... + c^(t-1) *)
Fixpoint series (t : nat) : R := match t with O => 0 | S t => c ^ t + series t end.

Lemma reach_below s gaps : never_rising gaps -> (match gaps with nil => True | s' :: _ => s' <= s end) ->
  reach 0 gaps <= s * series (length gaps).
Proof.
  revert s; induction gaps as [|s' gaps IH]; intros s H L; simpl; [lra|].
  destruct H as [H0 [H1 H2]]. rewrite reach_linear. specialize (IH s' H2 H1).
  assert (0 <= series (length gaps)). { clear - c_range. induction (length gaps); simpl; [lra|]. generalize (pow_nonneg n); lra. }
  generalize (pow_nonneg (length gaps)). nra.
Qed.

Lemma series_scaled t n : (t <= n)%nat -> c ^ n * series (S t) <= spread (S t) * c ^ (n - t).
Proof.
  (* each of the terms: c^n c^i <= c^(2i) c^(n-t) for i <= t *)
  intros H. replace (c ^ n) with (c ^ (n - t) * c ^ t) by (rewrite <- pow_add; f_equal; lia).
  assert (K : forall k, (k <= S t)%nat -> c ^ t * series k <= spread k).
  { induction k as [|k IH]; intros Hk; simpl; [lra|].
    specialize (IH ltac:(lia)). rewrite Rmult_plus_distr_l, <- pow_add.
    generalize (pow_falls (k + (k + 0)) (t + k) ltac:(lia)). lra. }
  specialize (K (S t) ltac:(lia)). generalize (pow_nonneg (n - t)). nra.
Qed.

Lemma first_shift_fits z s gaps : 0 <= z -> never_rising (s :: gaps) ->
  c ^ length gaps * reach z (s :: gaps) <= (c * z + s) * spread (S (length gaps)).
Proof.
  intros Hz H. set (n := length gaps).
  assert (E : reach z (s :: gaps) = c ^ n * (c * z + s) + reach 0 gaps) by (simpl; now rewrite reach_linear).
  destruct H as [H0 [H1 H2]]. generalize (reach_below s gaps H2 H1). fold n. intros B.
  generalize (series_scaled n n (le_n n)). rewrite Nat.sub_diag. simpl (c ^ 0). intros SS.
  assert (P : 0 <= c ^ n) by apply pow_nonneg.
  assert (T : c ^ n * c ^ n <= spread (S n)).
  { rewrite <- pow_add. simpl. replace (n + (n + 0))%nat with (n + n)%nat by lia. generalize (spread_nonneg n). lra. }
  rewrite E. simpl series in SS.
  assert (c ^ n * reach 0 gaps <= s * (spread (S n) - c ^ n * c ^ n)).
  { apply Rle_trans with (c ^ n * (s * series n)); [now apply Rmult_le_compat_l|].
    replace (c ^ n * (s * series n)) with (s * (c ^ n * series n)) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (0 <= c * z * (spread (S n) - c ^ n * c ^ n)) by (apply Rmult_le_pos; [nra | lra]).
  replace (c ^ n * (c ^ n * (c * z + s) + reach 0 gaps)) with (c ^ n * c ^ n * (c * z + s) + c ^ n * reach 0 gaps) by ring.
  replace ((c * z + s) * spread (S n)) with (c * z * spread (S n) + s * spread (S n)) by ring.
  lra.
Qed.

Context {I : coordinates} (M : measure).

(* a history with this factor, this variance and these gaps *)
Definition like (v : R) (history : list (@step I)) (gaps : list R) : Prop :=
  map gap_of history = gaps /\ Forall (fun s => factor s = c /\ variance s = v) history.

(* The shifts a_k = A c^(t-k) / S are feasible, and cost A^2 / (S v), where gaps never rise. *)
Lemma best_shifts v history gaps : 0 < v -> like v history gaps -> never_rising gaps -> gaps <> nil ->
  forall z, 0 <= z -> exists shifts, feasible z history shifts /\
  price history shifts = (reach z gaps * reach z gaps) / (spread (length gaps) * v).
Proof.
  intros Hv. revert history. induction gaps as [|s gaps IH]; intros history [E F] N NE z Hz; [congruence|].
  destruct history as [|h history]; [discriminate|]. simpl in E. injection E as Es Et.
  destruct (Forall_inv F) as [Fc Fv]. pose proof (Forall_inv_tail F) as Fr.
  set (A := reach z (s :: gaps)). set (n := length gaps).
  generalize (spread_pos n). intros SP.
  set (a := c ^ n * A / spread (S n)).
  assert (A0 : 0 <= A) by now apply reach_nonneg.
  assert (a0 : 0 <= a). { apply Rmult_le_pos; [generalize (pow_nonneg n); nra | left; now apply Rinv_0_lt_compat]. }
  assert (Z : 0 <= c * z + s - a).
  { generalize (first_shift_fits z s gaps Hz N). fold n A. intros B. unfold a.
    apply (Rmult_le_reg_r (spread (S n))); [assumption|].
    replace ((c * z + s - c ^ n * A / spread (S n)) * spread (S n)) with ((c * z + s) * spread (S n) - c ^ n * A) by (field; lra).
    lra. }
  assert (E' : reach (c * z + s - a) gaps = A * (spread n / spread (S n))).
  { rewrite reach_linear. fold n.
    assert (EA : A = c ^ n * (c * z + s) + reach 0 gaps) by (unfold A; simpl; now rewrite reach_linear).
    replace (reach 0 gaps) with (A - c ^ n * (c * z + s)) by lra. unfold a.
    replace (spread n) with (spread (S n) - c ^ n * c ^ n); [field; lra|].
    rewrite (spread_S n). ring. }
  destruct gaps as [|s' gaps'].
  - destruct history; [|discriminate]. exists [a]. simpl. rewrite Es, Fc, Fv. repeat split; auto.
    + simpl in E'. unfold n in E'. simpl in E'. lra.
    + unfold a, n; simpl. field; lra.
  - destruct (IH history) with (z := c * z + s - a) as [shifts [Fe Pr]]; auto; try congruence.
    { split; auto. }
    { simpl in N |- *. tauto. }
    exists (a :: shifts). simpl feasible. rewrite Es, Fc. repeat split; auto.
    simpl price. rewrite Fv, Pr, E'. fold n A.
    assert (Sn : 0 < spread n) by (apply spread_pos).
    unfold a. change (length (s :: s' :: gaps')) with (S n).
    rewrite (spread_S n).
    field. split; [lra|]. split; [generalize (pow_nonneg n); nra | lra].
Qed.

(* No feasible shifts cost less (Cauchy and Schwarz). *)
Lemma no_shifts_cost_less v history gaps shifts z : 0 < v -> like v history gaps -> feasible z history shifts -> 0 <= z ->
  reach z gaps * reach z gaps <= price history shifts * (spread (length gaps) * v).
Proof.
  intros Hv. revert gaps shifts z. induction history as [|h history IH]; intros gaps shifts z [E F] Fe Hz.
  - simpl in E. subst gaps. destruct shifts; simpl in *; [nra | contradiction].
  - destruct shifts as [|a shifts]; simpl in Fe; [contradiction|]. destruct gaps as [|s gaps]; [discriminate|].
    simpl in E. injection E as Es Et. destruct (Forall_inv F) as [Fc Fv]. pose proof (Forall_inv_tail F) as Fr.
    rewrite Es, Fc in Fe. destruct Fe as [Ha [Hr Fe]].
    specialize (IH gaps shifts (c * z + s - a) (conj Et Fr) Fe Hr).
    set (n := length gaps) in *. set (r := reach (c * z + s - a) gaps) in *. set (p := price history shifts) in *.
    assert (E' : reach z (s :: gaps) = c ^ n * a + r).
    { unfold r. simpl. rewrite (reach_linear (c * z + s)), (reach_linear (c * z + s - a)). fold n. ring. }
    rewrite E'. simpl price. rewrite Fv. fold p. change (length (s :: gaps)) with (S n).
    rewrite (spread_S n).
    replace ((a * a / v + p) * ((c ^ n * c ^ n + spread n) * v))
      with ((a * a + p * v) * (c ^ n * c ^ n + spread n)) by (field; lra).
    replace (p * (spread n * v)) with ((p * v) * spread n) in IH by ring.
    generalize (spread_nonneg n) (pow_nonneg n). intros S0 P0.
    assert (pv : 0 <= p * v).
    { assert (0 <= p). { unfold p. clear - Fr Hv. revert shifts. induction Fr as [|h l [_ Hh] Fr IH]; intros [|b shifts]; simpl; try lra.
        specialize (IH shifts). rewrite Hh. assert (0 <= b * b / v) by (apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat]). lra. }
      nra. }
    set (q := p * v) in *. set (T := spread n) in *. set (d := c ^ n) in *.
    destruct (Req_dec T 0) as [T0|T0].
    { assert (r = 0) as -> by (apply Rsqr_0_uniq; generalize (Rle_0_sqr r); unfold Rsqr; rewrite T0, Rmult_0_r in IH; lra).
      rewrite T0. assert (0 <= q * (d * d)) by (apply Rmult_le_pos; [assumption | apply Rle_0_sqr]). lra. }
    assert (TP : 0 < T) by lra.
    assert (0 <= T * (a * a * T + q * (d * d) - 2 * a * d * r)).
    { replace (T * (a * a * T + q * (d * d) - 2 * a * d * r)) with ((a * T - d * r) * (a * T - d * r) + d * d * (q * T - r * r)) by ring.
      assert (0 <= d * d * (q * T - r * r)) by (apply Rmult_le_pos; [apply Rle_0_sqr | lra]).
      generalize (Rle_0_sqr (a * T - d * r)). unfold Rsqr. lra. }
    assert (0 <= a * a * T + q * (d * d) - 2 * a * d * r) by (apply (Rmult_le_reg_l T); lra).
    nra.
Qed.

Theorem shifted_interpolation_best v history gaps x y z :
  0 < v -> Forall (valid M) history -> like v history gaps -> never_rising gaps -> gaps <> nil -> norm (vsub x y) <= z ->
  cost M ((reach z gaps * reach z gaps) / (spread (length gaps) * v)) (run one history x) (run two history y).
Proof.
  intros Hv H L N NE Hz.
  assert (0 <= z) by (generalize (norm_nonneg (vsub x y)); lra).
  destruct (best_shifts v history gaps Hv L N NE z H0) as [shifts [F E]].
  rewrite <- E. now apply (shifted_interpolation M history shifts H x y z).
Qed.

End Least.
