(* From Gaussian and Renyi differential privacy to (epsilon, delta), to the advantage of a test, and to odds at any time: the theorems,
   and bounds that `integral` and `interval` can evaluate for a certificate's figures. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From NoisyGD Require Import Space Normal Laws.
Open Scope R_scope.

(* --- the normal distribution's tail --- *)

(* the square root of pi / 2, from below *)
Definition half_below : R := 12533141373155 / 10000000000000.

Lemma half_at_least : half_below <= half.
Proof.
  apply Rle_trans with (half_mass 10); [|left; apply half_mass_below].
  unfold half_mass, bell, half_below. integral with (i_prec 70, i_fuel 1000, i_degree 15).
Qed.

(* the same from above *)
Definition half_above : R := 12533141373156 / 10000000000000.

(* the tail beyond a is bell a / (2 half) times the integral of this over s >= 0 *)
Definition decay (a s : R) : R := exp (- (a * s) - s * s / 2).

Lemma bell_decay a s : bell (a + s) = bell a * decay a s.
Proof. unfold bell, decay. rewrite <- exp_plus. f_equal. field. Qed.

Lemma decay_pos a s : 0 < decay a s.
Proof. apply exp_pos. Qed.

Lemma decay_int a x y : ex_RInt (decay a) x y.
Proof.
  apply (@ex_RInt_continuous R_CompleteNormedModule). intros s _. apply (ex_derive_continuous (decay a)). unfold decay. auto_derive. easy.
Qed.

Lemma tail_derive a s : is_derive (fun s => Phi (- (a + s))) s (- (bell a / (2 * half) * decay a s)).
Proof.
  replace (- (bell a / (2 * half) * decay a s)) with (scal (-1) (bell (- (a + s)) / (2 * half))).
  - apply (is_derive_comp Phi (fun s => - (a + s))); [apply Phi_derive|]. auto_derive; [easy | ring].
  - rewrite bell_even, bell_decay. unfold scal; simpl; unfold mult; simpl. field. generalize half_pos; lra.
Qed.

Lemma tail_split a S : Phi (- a) = Phi (- (a + S)) + bell a / (2 * half) * RInt (decay a) 0 S.
Proof.
  assert (I : is_RInt (fun s => scal (- (bell a / (2 * half))) (decay a s)) 0 S (minus (Phi (- (a + S))) (Phi (- (a + 0))))).
  { apply (is_RInt_ext (fun s => - (bell a / (2 * half) * decay a s))).
    { intros; unfold scal; simpl; unfold mult; simpl. ring. }
    apply (is_RInt_derive (fun s => Phi (- (a + s)))).
    - intros; apply tail_derive.
    - intros s _. apply (ex_derive_continuous (fun s => - (bell a / (2 * half) * decay a s))). unfold decay. auto_derive. easy. }
  assert (J := @is_RInt_scal R_NormedModule _ _ _ (- (bell a / (2 * half))) _ (@RInt_correct R_CompleteNormedModule _ _ _ (decay_int a 0 S))).
  apply (@is_RInt_unique R_CompleteNormedModule) in I. apply (@is_RInt_unique R_CompleteNormedModule) in J.
  assert (E := eq_trans (eq_sym I) J). unfold minus, plus, opp, scal in E; simpl in E; unfold mult in E; simpl in E. rewrite Rplus_0_r in E. lra.
Qed.

(* Mills' bound, in the same terms *)
Lemma tail_rest a S : 0 < a + S -> Phi (- (a + S)) <= bell a / (2 * half) * (decay a S / (a + S)).
Proof.
  intros H. replace (bell a / (2 * half) * (decay a S / (a + S))) with (bell (a + S) / ((a + S) * (2 * half)))
    by (rewrite bell_decay; field; split; [lra | generalize half_pos; lra]).
  generalize (a + S) H. clear a S H. intros x H. generalize half_pos. intros Hh.
  set (W := fun x => bell x / (x * (2 * half)) - Phi (- x)).
  assert (D : forall y, 0 < y -> is_derive W y (- (bell y / (y * y * (2 * half))))).
  { intros y Hy. unfold W.
    replace (- (bell y / (y * y * (2 * half)))) with (minus (- y * bell y / (y * (2 * half)) - bell y / (y * y * (2 * half))) (scal (-1) (bell (- y) / (2 * half)))).
    - apply (is_derive_minus (fun x => bell x / (x * (2 * half))) (fun x => Phi (- x))).
      + unfold bell, Rdiv. auto_derive; [repeat split; nra|]. field. lra.
      + apply (is_derive_comp Phi (fun x => - x)); [apply Phi_derive|]. auto_derive; [easy | ring].
    - rewrite bell_even. unfold minus, plus, opp, scal; simpl; unfold mult; simpl. field. lra. }
  assert (F : forall y, x <= y -> W y <= W x).
  { intros y [Hy| <-]; [|lra].
    destruct (MVT_gen W x y (fun y => - (bell y / (y * y * (2 * half))))) as [c [Hc E]].
    - intros z Hz. rewrite Rmin_left, Rmax_right in Hz by lra. apply D; lra.
    - intros z Hz. rewrite Rmin_left, Rmax_right in Hz by lra. apply continuity_pt_filterlim. apply (ex_derive_continuous W). eexists. apply D; lra.
    - rewrite Rmin_left, Rmax_right in Hc by lra.
      assert (0 <= bell c / (c * c * (2 * half))).
      { left. apply Rdiv_lt_0_compat; [apply bell_pos | apply Rmult_lt_0_compat; nra]. }
      nra. }
  destruct (Rle_or_lt 0 (W x)) as [L|L]; [unfold W in L; lra|]. exfalso.
  destruct (nfloor_ex x ltac:(lra)) as [n [_ Hn]].
  destruct (Phi_tends (Datatypes.S n) (- W x) ltac:(lra)) as [t [Ht Hnt]]. rewrite S_INR in Hnt.
  generalize (F t ltac:(lra)). unfold W at 1. rewrite Phi_opp.
  assert (0 < bell t / (t * (2 * half))) by (apply Rdiv_lt_0_compat; [apply bell_pos | apply Rmult_lt_0_compat; lra]). lra.
Qed.

Lemma tail_above a S : 0 < a + S -> Phi (- a) <= bell a / (2 * half) * (RInt (decay a) 0 S + decay a S / (a + S)).
Proof. intros H. rewrite (tail_split a S), Rmult_plus_distr_l. generalize (tail_rest a S H). lra. Qed.

Lemma half_rest x : 0 < x -> half <= half_mass x + bell x / x.
Proof.
  intros Hx. generalize (tail_rest x 0 ltac:(lra)) half_pos. rewrite Rplus_0_r, Phi_opp. unfold decay, Phi.
  replace (- (x * 0) - 0 * 0 / 2) with 0 by lra. rewrite exp_0. intros H Hh.
  replace half with (half_mass x + 2 * half * (1 - (1 / 2 + half_mass x / (2 * half)))) at 1 by (field; lra).
  apply Rplus_le_compat_l. replace (bell x / x) with (2 * half * (bell x / (2 * half) * (1 / x))) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

Lemma half_at_most : half < half_above.
Proof.
  apply Rle_lt_trans with (1 := half_rest 10 ltac:(lra)).
  unfold half_mass, bell, half_above. integral with (i_prec 70, i_fuel 1000, i_degree 15).
Qed.

Lemma tail_below a S : bell a / (2 * half) * RInt (decay a) 0 S <= Phi (- a).
Proof. rewrite (tail_split a S). generalize (Phi_above (- (a + S))). lra. Qed.

(* --- Gaussian differential privacy: epsilon at a delta --- *)

(* the gap rises from 0 to its only maximum *)
Lemma gap_slope mu eps a b : 0 < mu -> a < b -> exists c, a < c < b /\
  gap mu eps b - gap mu eps a = (exp (- (c * mu) - mu * mu / 2) - exp eps) * (bell c / (2 * half)) * (b - a).
Proof.
  intros Hmu Hab. generalize half_pos. intros P.
  destruct (MVT_cor2 (gap mu eps) (fun c => (bell (c + mu) - exp eps * bell c) / (2 * half)) a b Hab) as [c [E Hc]].
  - intros c _. apply is_derive_Reals, gap_derive.
  - exists c. split; [exact Hc|]. rewrite E, bell_ratio. field. lra.
Qed.

Lemma gap_rises mu eps a b : 0 < mu -> a < b -> b <= - eps / mu - mu / 2 -> gap mu eps a < gap mu eps b.
Proof.
  intros Hmu Hab Hb. destruct (gap_slope mu eps a b Hmu Hab) as [c [Hc E]]. generalize half_pos. intros P.
  assert (E0 : - ((- eps / mu - mu / 2) * mu) - mu * mu / 2 = eps) by (field; lra).
  assert (exp eps < exp (- (c * mu) - mu * mu / 2)) by (apply exp_increasing; nra).
  assert (0 < bell c / (2 * half)) by (apply Rdiv_lt_0_compat; [apply bell_pos | lra]).
  assert (0 < (exp (- (c * mu) - mu * mu / 2) - exp eps) * (bell c / (2 * half))) by (apply Rmult_lt_0_compat; lra).
  nra.
Qed.

Lemma gap_positive mu eps t : 0 < mu -> t <= - eps / mu - mu / 2 -> 0 < gap mu eps t.
Proof.
  intros Hmu Ht. generalize (gap_rises mu eps (t - 1) t Hmu ltac:(lra) Ht). intros G.
  destruct (Rle_or_lt 0 (gap mu eps (t - 1))) as [|L]; [lra|]. exfalso.
  (* far to the left it is above any negative number *)
  destruct (nfloor_ex (Rabs t + 1) ltac:(generalize (Rabs_pos t); lra)) as [n [_ Hn]].
  destruct (Phi_tends (Datatypes.S n) (- gap mu eps (t - 1) / exp eps)) as [b [Hb Hnb]].
  { apply Rdiv_lt_0_compat; [lra | apply exp_pos]. }
  rewrite S_INR in Hnb. assert (Lt : - b < t - 1) by (generalize (Rle_abs (- t)); rewrite Rabs_Ropp; lra).
  generalize (gap_rises mu eps (- b) (t - 1) Hmu Lt ltac:(lra)). unfold gap at 1. rewrite Phi_opp.
  generalize (Phi_above (- b + mu)) (exp_pos eps). intros Q X Y.
  assert (exp eps * (1 - Phi b) < - gap mu eps (t - 1)).
  { apply (Rmult_lt_reg_l (/ exp eps)); [now apply Rinv_0_lt_compat|]. rewrite <- Rmult_assoc, Rinv_l by lra. unfold Rdiv in Hb. lra. }
  lra.
Qed.

(* what is proven of a figure: for every mu up to a bound *)
Definition converts (mu eps d : R) : Prop := forall nu, 0 < nu <= mu -> delta nu eps <= d.

Theorem converted A mu eps d nu (P Q : Law A) f : converts mu eps d -> 0 < nu <= mu -> gdp nu P Q -> (forall a, 0 <= f a <= 1) ->
  chance Q f <= exp eps * chance P f + d.
Proof. intros C H G Hf. generalize (gdp_epsilon_delta A nu eps P Q f ltac:(lra) G Hf) (C nu H). lra. Qed.

Definition lost (a mu s : R) : R := decay a s * (1 - exp (- (mu * s))).

(* delta without the difference of two tails: the integrand is positive *)
Lemma delta_split mu eps a S : 0 < mu -> a = eps / mu - mu / 2 ->
  delta mu eps = bell a / (2 * half) * RInt (lost a mu) 0 S + gap mu eps (- (a + mu + S)).
Proof.
  intros Hmu Ha. generalize half_pos. intros Hh.
  set (K := bell a / (2 * half)).
  set (G := fun s => Phi (- (a + s)) - exp eps * Phi (- (a + mu + s))).
  assert (E0 : delta mu eps = G 0).
  { unfold delta, G. f_equal; [|f_equal]; f_equal; rewrite Ha; field; lra. }
  assert (E : forall s, exp eps * (bell (a + mu) * decay (a + mu) s) = bell a * decay a s * exp (- (mu * s))).
  { intros s. unfold bell, decay. rewrite <- !exp_plus. f_equal. rewrite Ha. field. lra. }
  assert (D : forall s, is_derive G s (- (K * lost a mu s))).
  { intros s. unfold G.
    replace (- (K * lost a mu s)) with (minus (- (bell a / (2 * half) * decay a s)) (scal (exp eps) (- (bell (a + mu) / (2 * half) * decay (a + mu) s)))).
    - apply (is_derive_minus (fun s => Phi (- (a + s))) (fun s => exp eps * Phi (- (a + mu + s)))); [apply tail_derive|].
      apply @is_derive_scal, tail_derive.
    - unfold minus, plus, opp, scal; simpl; unfold mult; simpl. unfold K, lost.
      replace (exp eps * - (bell (a + mu) / (2 * half) * decay (a + mu) s)) with (- (exp eps * (bell (a + mu) * decay (a + mu) s)) / (2 * half)) by (field; lra).
      rewrite E. field. lra. }
  assert (C : forall s, continuous (lost a mu) s).
  { intros s. apply (ex_derive_continuous (lost a mu)). unfold lost, decay. auto_derive. easy. }
  assert (I : is_RInt (fun s => scal (- K) (lost a mu s)) 0 S (minus (G S) (G 0))).
  { apply (is_RInt_ext (fun s => - (K * lost a mu s))); [intros; unfold scal; simpl; unfold mult; simpl; ring|].
    apply (is_RInt_derive G); [intros; apply D|].
    intros s _. apply (ex_derive_continuous (fun s => - (K * lost a mu s))). unfold lost, decay. auto_derive. easy. }
  assert (X : ex_RInt (lost a mu) 0 S) by (apply (@ex_RInt_continuous R_CompleteNormedModule); intros; apply C).
  assert (J := @is_RInt_scal R_NormedModule _ _ _ (- K) _ (@RInt_correct R_CompleteNormedModule _ _ _ X)).
  apply (@is_RInt_unique R_CompleteNormedModule) in I. apply (@is_RInt_unique R_CompleteNormedModule) in J.
  assert (Y := eq_trans (eq_sym I) J). unfold minus, plus, opp, scal in Y; simpl in Y; unfold mult in Y; simpl in Y.
  replace (gap mu eps (- (a + mu + S))) with (G S) by (unfold gap, G; f_equal; f_equal; ring).
  rewrite E0. lra.
Qed.

Lemma delta_above mu eps a S : 0 < mu -> a = eps / mu - mu / 2 -> 0 < a + S ->
  delta mu eps <= bell a / (2 * half) * (RInt (lost a mu) 0 S + decay a S / (a + S)).
Proof.
  intros Hmu Ha HaS. rewrite (delta_split mu eps a S Hmu Ha), Rmult_plus_distr_l.
  generalize (tail_rest a S HaS) (exp_pos eps) (Phi_above (- (a + mu + S))). intros. unfold gap.
  replace (- (a + mu + S) + mu) with (- (a + S)) by ring. nra.
Qed.

Lemma delta_below mu eps a S : 0 < mu -> a = eps / mu - mu / 2 -> 0 <= S ->
  bell a / (2 * half) * RInt (lost a mu) 0 S < delta mu eps.
Proof.
  intros Hmu Ha HS. rewrite (delta_split mu eps a S Hmu Ha).
  generalize (gap_positive mu eps (- (a + mu + S)) Hmu). rewrite Ha.
  intros H. assert (- (eps / mu - mu / 2 + mu + S) <= - eps / mu - mu / 2) by (unfold Rdiv; lra). lra.
Qed.

Lemma over_half K x : half_below <= half -> 0 <= K -> 0 <= x -> K / (2 * half) * x <= K * x / (2 * half_below).
Proof.
  intros L HK Hx. assert (0 < half_below) by (unfold half_below; lra).
  replace (K / (2 * half) * x) with (K * x / (2 * half)) by (field; lra).
  apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; lra.
Qed.

Theorem epsilon_shown mu eps d a S : half_below <= half -> 0 < mu -> a = eps / mu - mu / 2 -> 0 < S -> 0 < a + S ->
  bell a * (RInt (lost a mu) 0 S + decay a S / (a + S)) <= 2 * half_below * d -> converts mu eps d.
Proof.
  intros Lh Hmu Ha HS HaS B nu Hnu.
  apply Rle_trans with (delta mu eps); [apply delta_monotone; lra|].
  apply Rle_trans with (1 := delta_above mu eps a S Hmu Ha HaS).
  assert (0 < half_below) by (unfold half_below; lra).
  assert (P : 0 <= RInt (lost a mu) 0 S).
  { apply RInt_ge_0; [lra | |].
    - apply (@ex_RInt_continuous R_CompleteNormedModule). intros s _. apply (ex_derive_continuous (lost a mu)). unfold lost, decay. auto_derive. easy.
    - intros s Hs. unfold lost. apply Rmult_le_pos; [left; apply decay_pos|].
      assert (exp (- (mu * s)) < 1) by (rewrite <- exp_0; apply exp_increasing; nra). lra. }
  assert (P' : 0 < decay a S / (a + S)) by (apply Rdiv_lt_0_compat; [apply decay_pos | assumption]).
  apply Rle_trans with (1 := over_half (bell a) (RInt (lost a mu) 0 S + decay a S / (a + S)) Lh ltac:(left; apply bell_pos) ltac:(lra)).
  apply (Rmult_le_reg_r (2 * half_below)); [lra|].
  replace (bell a * (RInt (lost a mu) 0 S + decay a S / (a + S)) / (2 * half_below) * (2 * half_below))
    with (bell a * (RInt (lost a mu) 0 S + decay a S / (a + S))) by (field; lra). lra.
Qed.

(* --- the advantage of a test --- *)

Lemma converts_below mu mu' eps d : mu <= mu' -> converts mu' eps d -> converts mu eps d.
Proof. intros H C nu Hnu. apply C. lra. Qed.

Lemma converts_nothing eps d : converts 0 eps d.
Proof. intros nu H. lra. Qed.

Lemma advantage_is mu : 0 < mu -> delta mu 0 = half_mass (mu / 2) / half.
Proof.
  intros H. unfold delta. rewrite exp_0. replace (- 0 / mu + mu / 2) with (mu / 2) by (field; lra).
  replace (- 0 / mu - mu / 2) with (- (mu / 2)) by (field; lra). rewrite Phi_opp. unfold Phi. field. generalize half_pos; lra.
Qed.

(* 2 Phi(mu/2) - 1 *)
Theorem gdp_advantage A mu (P Q : Law A) f : 0 < mu -> gdp mu P Q -> (forall a, 0 <= f a <= 1) ->
  chance Q f - chance P f <= half_mass (mu / 2) / half.
Proof.
  intros H G Hf. generalize (gdp_epsilon_delta A mu 0 P Q f H G Hf). rewrite exp_0, advantage_is by assumption. lra.
Qed.

Theorem advantage_shown mu d : half_below <= half -> 0 < mu -> 0 <= d -> RInt bell 0 (mu / 2) <= half_below * d -> converts mu 0 d.
Proof.
  intros Lh Hmu Hd B nu Hnu. apply Rle_trans with (delta mu 0); [apply delta_monotone; lra|].
  rewrite advantage_is by assumption. fold (half_mass (mu / 2)) in B. generalize half_pos. intros.
  apply (Rmult_le_reg_r half); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. nra.
Qed.

(* --- odds at any time: the event that the likelihood ratio reached e^eps --- *)

(* beyond its maximum the gap falls *)
Lemma gap_changes mu eps t u : 0 < mu -> t < u -> gap mu eps t <= 0 -> gap mu eps u < 0.
Proof.
  intros Hmu Htu H. generalize half_pos. intros P.
  assert (S : - eps / mu - mu / 2 < t) by (destruct (Rlt_or_le (- eps / mu - mu / 2) t) as [|L]; [assumption | generalize (gap_positive mu eps t Hmu L); lra]).
  destruct (gap_slope mu eps t u Hmu Htu) as [c [Hc E]].
  assert (E0 : - ((- eps / mu - mu / 2) * mu) - mu * mu / 2 = eps) by (field; lra).
  assert (exp (- (c * mu) - mu * mu / 2) < exp eps) by (apply exp_increasing; nra).
  assert (0 < bell c / (2 * half)) by (apply Rdiv_lt_0_compat; [apply bell_pos | lra]).
  assert (0 < (exp eps - exp (- (c * mu) - mu * mu / 2)) * (bell c / (2 * half))) by (apply Rmult_lt_0_compat; lra).
  nra.
Qed.

(* An event that is e^eps times as likely under Q as under P has probability at most Phi(y) under Q. *)
Theorem gdp_stopping A mu eps y (P Q : Law A) f : 0 < mu -> gdp mu P Q -> (forall a, 0 <= f a <= 1) ->
  exp eps * chance P f <= chance Q f -> Phi y <= exp eps * Phi (y - mu) -> chance Q f <= Phi y.
Proof.
  intros Hmu G Hf L Y. destruct (Rle_or_lt (chance Q f) (Phi y)) as [|N]; [assumption|]. exfalso.
  generalize (chance_range _ P f Hf) (chance_range _ Q f Hf) (exp_pos eps). intros HP HQ Pe.
  assert (G0 : gap mu eps (y - mu) <= 0) by (unfold gap; replace (y - mu + mu) with y by ring; lra).
  destruct (Rle_or_lt (chance P f) (Phi (y - mu))) as [S|S].
  { generalize (G f Hf _ S). replace (y - mu + mu) with y by ring. lra. }
  destruct (Req_dec (chance P f) 1) as [E1|N1].
  - (* then e^eps <= 1, and the gap is negative far to the right *)
    rewrite E1 in L. assert (Phi y <= Phi (y - mu)) by (generalize (Phi_above (y - mu)); nra).
    generalize (Phi_increasing (y - mu) y ltac:(lra)). lra.
  - destruct (Phi_onto (chance P f)) as [t Ht]; [generalize (Phi_above (y - mu)); lra|].
    rewrite <- Ht in S. apply Phi_reflect in S. generalize (gap_changes mu eps (y - mu) t Hmu S G0) (G f Hf t ltac:(lra)).
    unfold gap. rewrite Ht. lra.
Qed.

(* What is proven of the odds under a total (te, td), the filter's cap: whatever mu converts to it, the events that the odds reach e^eps
   for either side have together probability at most d: (1 + e^-eps) Phi(y). *)
Definition odds_within (te td eps d : R) : Prop :=
  exists y, (1 + exp (- eps)) * Phi y <= d /\ forall mu, 0 < mu -> delta mu te <= td -> Phi y <= exp eps * Phi (y - mu).

Theorem total_stopping A te td eps d mu (P Q : Law A) f g : odds_within te td eps d -> 0 < mu -> delta mu te <= td -> gdp mu P Q ->
  (forall a, 0 <= f a <= 1) -> (forall a, 0 <= g a <= 1) ->
  exp eps * chance P f <= chance Q f -> exp eps * chance Q g <= chance P g -> chance Q f + chance Q g <= d.
Proof.
  intros [y [B Y]] Hmu T G Hf Hg Lf Lg. specialize (Y mu Hmu T).
  generalize (gdp_stopping A mu eps y P Q f Hmu G Hf Lf Y) (gdp_stopping A mu eps y Q P g Hmu (gdp_symmetric _ _ _ _ G) Hg Lg Y). intros F F'.
  assert (chance Q g <= exp (- eps) * Phi y); [|lra].
  apply (Rmult_le_reg_l (exp eps)); [apply exp_pos|]. rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. lra.
Qed.

Theorem odds_shown te td eps d cap far room a S U : half_below <= half -> half < half_above -> 0 < cap -> far = te / cap - cap / 2 -> 0 <= room ->
  0 <= td -> 0 < S -> 0 < a + S -> 0 <= U ->
  2 * half_above * td <= bell far * RInt (lost far cap) 0 room ->
  (1 + exp (- eps)) * U <= 2 * half_below * d ->
  U <= exp eps * (bell (a + cap) * RInt (decay (a + cap)) 0 S) ->
  bell a * (RInt (decay a) 0 S + decay a S / (a + S)) <= U ->
  odds_within te td eps d.
Proof.
  intros Lh Uh Hcap Hfar Hroom Htd HS HaS HU Hcap' H1 H3 H2. exists (- a). generalize half_pos (exp_pos eps) (exp_pos (- eps)). intros Hh Pe Pe'.
  assert (hb : 0 < half_below) by (unfold half_below; lra).
  assert (HI : 0 < / (2 * half)) by (apply Rinv_0_lt_compat; lra).
  set (X := RInt (decay a) 0 S + decay a S / (a + S)) in *.
  generalize (tail_above a S HaS). fold X. intros T. split.
  - assert (Phi (- a) <= U / (2 * half_below)).
    { apply Rle_trans with (1 := T). replace (bell a / (2 * half) * X) with (bell a * X * / (2 * half)) by (field; lra).
      apply Rle_trans with (U * / (2 * half)); [apply Rmult_le_compat_r; lra|].
      apply Rmult_le_compat_l; [assumption | apply Rinv_le_contravar; lra]. }
    apply Rle_trans with ((1 + exp (- eps)) * (U / (2 * half_below))); [apply Rmult_le_compat_l; lra|].
    apply (Rmult_le_reg_r (2 * half_below)); [lra|].
    replace ((1 + exp (- eps)) * (U / (2 * half_below)) * (2 * half_below)) with ((1 + exp (- eps)) * U) by (field; lra). lra.
  - intros mu Hmu Hd.
    assert (M : mu <= cap).
    { destruct (Rle_or_lt mu cap) as [|L]; [assumption|]. exfalso.
      generalize (delta_monotone cap mu te Hcap (Rlt_le _ _ L)) (delta_below cap te far room Hcap Hfar Hroom). intros D D'.
      assert (bell far / (2 * half) * RInt (lost far cap) 0 room >= td); [|lra].
      apply Rle_ge. replace (bell far / (2 * half) * RInt (lost far cap) 0 room) with (bell far * RInt (lost far cap) 0 room * / (2 * half)) by (field; lra).
      apply (Rmult_le_reg_r (2 * half)); [lra|]. rewrite (Rmult_assoc _ (/ (2 * half))), Rinv_l by lra. nra. }
    apply Rle_trans with (exp eps * Phi (- (a + cap))); [|apply Rmult_le_compat_l; [lra | apply Phi_monotone; lra]].
    apply Rle_trans with (1 := T). apply Rle_trans with (exp eps * (bell (a + cap) / (2 * half) * RInt (decay (a + cap)) 0 S)).
    + replace (bell a / (2 * half) * X) with (bell a * X * / (2 * half)) by (field; lra).
      replace (exp eps * (bell (a + cap) / (2 * half) * RInt (decay (a + cap)) 0 S))
        with (exp eps * (bell (a + cap) * RInt (decay (a + cap)) 0 S) * / (2 * half)) by (field; lra).
      apply Rmult_le_compat_r; lra.
    + apply Rmult_le_compat_l; [lra | apply tail_below].
Qed.

(* --- Renyi divergence, by tangents of the power y^q --- *)

(* (r, x) proves P's test at most e^eps times Q's, plus d; r = x = 1 is the trivial pair *)
Theorem renyi_epsilon_delta A q e eps d r x (P Q : Law A) f : 1 < q -> 0 < x < r -> renyi q e P Q -> (forall a, 0 <= f a <= 1) ->
  (q - 1) * (Rpower r q - Rpower x q) <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * exp eps ->
  exp ((q - 1) * e) - q * Rpower x (q - 1) + (q - 1) * Rpower x q <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * d ->
  chance P f <= exp eps * chance Q f + d.
Proof.
  intros Hq Hx R Hf H1 H2. generalize (renyi_tests A q e P Q f r x Hq ltac:(lra) ltac:(lra) R Hf) (chance_range _ Q f Hf). intros T HQ.
  assert (D : 0 < q * (Rpower r (q - 1) - Rpower x (q - 1))).
  { apply Rmult_lt_0_compat; [lra|]. assert (Rpower x (q - 1) < Rpower r (q - 1)); [|lra].
    unfold Rpower. apply exp_increasing. apply Rmult_lt_compat_l; [lra|]. apply ln_increasing; lra. }
  set (U := q * (Rpower r (q - 1) - Rpower x (q - 1))) in *.
  apply (Rmult_le_reg_l U); [assumption|].
  assert ((q - 1) * (Rpower r q - Rpower x q) * chance Q f <= U * exp eps * chance Q f) by (apply Rmult_le_compat_r; lra).
  unfold U in *. lra.
Qed.

(* An event that is e^eps times as likely under P as under Q: the same bound that Ville's inequality gives. *)
Theorem renyi_stopping A q e eps (P Q : Law A) f : 1 < q -> renyi q e P Q -> (forall a, 0 <= f a <= 1) ->
  exp eps * chance Q f <= chance P f -> chance P f <= exp (- ((q - 1) * (eps - e))).
Proof.
  intros Hq R Hf L. generalize (chance_range _ P f Hf) (chance_range _ Q f Hf). intros HP HQ.
  assert (E : Rpower (exp eps) (q - 1) * chance P f <= exp ((q - 1) * e)).
  { destruct (Rle_or_lt (Rpower (exp eps) (q - 1) * chance P f) (exp ((q - 1) * e))) as [|N]; [assumption|]. exfalso.
    set (room := Rpower (exp eps) (q - 1) * chance P f - exp ((q - 1) * e)) in *.
    assert (Hroom : 0 < room) by (unfold room; lra).
    (* a tangent so near 0 that the other event does not matter *)
    set (x := Rpower (room / (2 * (q - 1))) (/ q)).
    assert (Hx : 0 < x) by apply exp_pos.
    assert (Xq : Rpower x q = room / (2 * (q - 1))).
    { unfold x. rewrite Rpower_mult, Rinv_l, Rpower_1; [reflexivity | apply Rdiv_lt_0_compat; lra | lra]. }
    generalize (renyi_tests A q e P Q f (exp eps) x Hq (exp_pos _) Hx R Hf). rewrite Xq.
    replace (Rpower (exp eps) q) with (Rpower (exp eps) (q - 1) * exp eps).
    2: { unfold Rpower. rewrite ln_exp, <- exp_plus. f_equal. ring. }
    assert (Pr : 0 < Rpower (exp eps) (q - 1)) by apply exp_pos. assert (Px : 0 < Rpower x (q - 1)) by apply exp_pos.
    assert (0 <= q * Rpower x (q - 1) * (1 - chance P f)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
    assert ((q - 1) * (Rpower (exp eps) (q - 1) * exp eps) * chance Q f <= (q - 1) * Rpower (exp eps) (q - 1) * chance P f).
    { replace ((q - 1) * (Rpower (exp eps) (q - 1) * exp eps) * chance Q f) with ((q - 1) * Rpower (exp eps) (q - 1) * (exp eps * chance Q f)) by ring.
      apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra. }
    assert (((q - 1) * (room / (2 * (q - 1)))) * (1 - chance Q f) <= room / 2).
    { replace ((q - 1) * (room / (2 * (q - 1)))) with (room / 2) by (field; lra). nra. }
    unfold room in *. intros T. lra. }
  unfold Rpower in E. rewrite ln_exp in E.
  apply (Rmult_le_reg_l (exp ((q - 1) * eps))); [apply exp_pos|]. rewrite <- exp_plus.
  replace ((q - 1) * eps + - ((q - 1) * (eps - e))) with ((q - 1) * e) by ring. exact E.
Qed.

(* a divergence e of order q converts to (te, td): so do all pairs of probabilities that it allows *)
Definition renyi_moment (q p p' : R) : R := Rpower p q * Rpower p' (1 - q) + Rpower (1 - p) q * Rpower (1 - p') (1 - q).
Definition renyi_within (q te td e : R) : Prop :=
  forall p p', 0 < p < 1 -> 0 < p' < 1 -> renyi_moment q p p' <= exp ((q - 1) * e) -> p <= exp te * p' + td.

(* the odds under a total that is summed at one order *)
Definition renyi_odds_within (q te td eps d : R) : Prop :=
  forall e, renyi_within q te td e -> (1 + exp (- eps)) * exp (- ((q - 1) * (eps - e))) <= d.

Theorem renyi_total_stopping A q te td eps d e (P Q : Law A) f g : 1 < q -> renyi_odds_within q te td eps d -> renyi_within q te td e ->
  renyi q e P Q -> renyi q e Q P -> (forall a, 0 <= f a <= 1) -> (forall a, 0 <= g a <= 1) ->
  exp eps * chance Q f <= chance P f -> exp eps * chance P g <= chance Q g -> chance P f + chance P g <= d.
Proof.
  intros Hq O T R R' Hf Hg Lf Lg. specialize (O e T).
  generalize (renyi_stopping A q e eps P Q f Hq R Hf Lf) (renyi_stopping A q e eps Q P g Hq R' Hg Lg). intros F F'.
  assert (chance P g <= exp (- eps) * exp (- ((q - 1) * (eps - e)))); [|lra].
  apply (Rmult_le_reg_l (exp eps)); [apply exp_pos|]. rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0. lra.
Qed.

(* a pair of probabilities that no divergence of the total allows *)
Theorem renyi_odds_shown q te td eps d cap p p' : 1 < q -> 0 < p < 1 -> 0 < p' < 1 -> exp te * p' + td < p ->
  renyi_moment q p p' <= exp ((q - 1) * cap) -> (1 + exp (- eps)) * exp (- ((q - 1) * (eps - cap))) <= d -> renyi_odds_within q te td eps d.
Proof.
  intros Hq Hp Hp' L M B e T. apply Rle_trans with (2 := B). apply Rmult_le_compat_l; [generalize (exp_pos (- eps)); lra|].
  destruct (Rle_or_lt e cap) as [H|H].
  - destruct H as [H| ->]; [left; apply exp_increasing; nra | lra].
  - exfalso. assert (exp ((q - 1) * cap) < exp ((q - 1) * e)) by (apply exp_increasing; nra).
    generalize (T p p' Hp Hp' ltac:(lra)). lra.
Qed.

(* tanh(s/2) where cosh((q - 1/2) s) = e^((q-1) e) cosh(s/2): every s gives a bound *)
Definition renyi_advantage (q e s : R) : R :=
  (2 * exp ((q - 1) * e) - q * (exp ((q - 1) * s) + exp (- ((q - 1) * s))) + (q - 1) * (exp (q * s) + exp (- (q * s)))) /
  (q * (exp ((q - 1) * s) - exp (- ((q - 1) * s))) + (q - 1) * (exp (q * s) - exp (- (q * s)))).

Theorem renyi_advantage_bounds A q e s (P Q : Law A) f : 1 < q -> 0 < s -> renyi q e P Q -> renyi q e Q P -> (forall a, 0 <= f a <= 1) ->
  chance P f - chance Q f <= renyi_advantage q e s.
Proof.
  intros Hq Hs R R' Hf.
  generalize (renyi_tests A q e P Q f (exp s) (exp (- s)) Hq (exp_pos _) (exp_pos _) R Hf)
    (renyi_tests A q e Q P f (exp (- s)) (exp s) Hq (exp_pos _) (exp_pos _) R' Hf).
  unfold Rpower. rewrite !ln_exp. replace ((q - 1) * - s) with (- ((q - 1) * s)) by ring. replace (q * - s) with (- (q * s)) by ring.
  unfold renyi_advantage.
  assert (X : exp (- ((q - 1) * s)) < exp ((q - 1) * s)) by (apply exp_increasing; nra).
  assert (Y : exp (- (q * s)) < exp (q * s)) by (apply exp_increasing; nra).
  generalize (exp ((q - 1) * e)) (exp ((q - 1) * s)) (exp (- ((q - 1) * s))) (exp (q * s)) (exp (- (q * s))) X Y.
  intros E u u' v v' U V T T'.
  assert (0 < q * (u - u') + (q - 1) * (v - v')) by nra.
  apply (Rmult_le_reg_r (q * (u - u') + (q - 1) * (v - v'))); [assumption|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra.
Qed.

(* what is proven of a figure, for a curve of Renyi divergences *)
Definition curve_converts (curve : R -> R) (eps d : R) : Prop := exists q r x, 1 < q /\ 0 < x < r /\
  (q - 1) * (Rpower r q - Rpower x q) <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * exp eps /\
  exp ((q - 1) * curve q) - q * Rpower x (q - 1) + (q - 1) * Rpower x q <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * d.

Theorem curve_converted A curve eps d (P Q : Law A) f : curve_converts curve eps d -> (forall q, 1 < q -> renyi q (curve q) P Q) ->
  (forall a, 0 <= f a <= 1) -> chance P f <= exp eps * chance Q f + d.
Proof. intros [q [r [x [Hq [Hx [H1 H2]]]]]] R Hf. apply (renyi_epsilon_delta A q (curve q) eps d r x); auto. Qed.

Lemma curve_shown (curve : R -> R) eps d q r x e : 1 < q -> 0 < x < r -> curve q <= e ->
  (q - 1) * (Rpower r q - Rpower x q) <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * exp eps ->
  exp ((q - 1) * e) - q * Rpower x (q - 1) + (q - 1) * Rpower x q <= q * (Rpower r (q - 1) - Rpower x (q - 1)) * d ->
  curve_converts curve eps d.
Proof.
  intros Hq Hx He H1 H2. exists q, r, x. repeat split; try lra.
  assert (exp ((q - 1) * curve q) <= exp ((q - 1) * e)); [|lra].
  destruct (Rle_lt_or_eq_dec ((q - 1) * curve q) ((q - 1) * e)) as [L|E]; [nra | left; now apply exp_increasing | rewrite E; lra].
Qed.

Definition curve_advantage (curve : R -> R) (d : R) : Prop := exists q s, 1 < q /\ 0 < s /\ renyi_advantage q (curve q) s <= d.

Theorem curve_advantage_bounds A curve d (P Q : Law A) f : curve_advantage curve d ->
  (forall q, 1 < q -> renyi q (curve q) P Q /\ renyi q (curve q) Q P) -> (forall a, 0 <= f a <= 1) -> chance P f - chance Q f <= d.
Proof.
  intros [q [s [Hq [Hs B]]]] R Hf. destruct (R q Hq). apply Rle_trans with (2 := B). now apply renyi_advantage_bounds.
Qed.

Lemma curve_advantage_shown (curve : R -> R) d q s e : 1 < q -> 0 < s -> curve q <= e -> renyi_advantage q e s <= d -> curve_advantage curve d.
Proof.
  intros Hq Hs He B. exists q, s. repeat split; try assumption. apply Rle_trans with (2 := B). unfold renyi_advantage.
  assert (X : exp (- ((q - 1) * s)) < exp ((q - 1) * s)) by (apply exp_increasing; nra).
  assert (Y : exp (- (q * s)) < exp (q * s)) by (apply exp_increasing; nra).
  assert (E : exp ((q - 1) * curve q) <= exp ((q - 1) * e)).
  { destruct (Rle_lt_or_eq_dec ((q - 1) * curve q) ((q - 1) * e)) as [L|E]; [nra | left; now apply exp_increasing | rewrite E; lra]. }
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra | lra].
Qed.
