(* Objective perturbation by the exact tilt (`bounds/objective_perturbation.py`), for one-dimensional parameters: the identity of
   the densities with its Jacobian, and the Renyi bound that it gives, Hessian cost included. *)
From Coq Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal.
Open Scope R_scope.

(* the identity of squares, in any dimension *)
Theorem tilt_of_squares {I : coordinates} q (G1 G2 : vec I) :
  let Gq := vadd (vscal (1 - q) G1) (vscal q G2) in let w := vsub G2 G1 in
  q * normsq G2 + (1 - q) * normsq G1 = normsq Gq - q * (q - 1) * normsq w.
Proof.
  intros Gq w. unfold Gq, w. rewrite sub_as_add, normsq_combination.
  replace (vadd G2 (vscal (-1) G1)) with (vadd (vscal 1 G2) (vscal (-1) G1)) by vec_ring.
  rewrite normsq_combination, (inner_sym G2 G1). ring.
Qed.

(* The same in any dimension, at a point: j1, j2, jq stand for the determinants of the Jacobians there. *)
Section Dimensions.
Context {I : coordinates}.
Variables (q s Delta M scale : R) (G1 G2 : vec I -> vec I) (j1 j2 jq : vec I -> R).
Hypotheses (q_order : 1 < q) (s_pos : 0 < s) (scale_pos : 0 < scale)
  (j1_pos : forall x, 0 < j1 x) (j2_pos : forall x, 0 < j2 x) (jq_pos : forall x, 0 < jq x)
  (sensitivity : forall x, norm (vsub (G2 x) (G1 x)) <= Delta)
  (hessian : forall x, Rpower (j2 x) q * Rpower (j1 x) (1 - q) <= M * jq x).

Definition tilted (x : vec I) : vec I := vadd (vscal (1 - q) (G1 x)) (vscal q (G2 x)).
Definition density_of (G : vec I -> vec I) (j : vec I -> R) (x : vec I) : R := scale * exp (- normsq (G x) / (2 * (s * s))) * j x.
Definition moment (x : vec I) : R := Rpower (density_of G2 j2 x) q * Rpower (density_of G1 j1 x) (1 - q).

Theorem tilt_identity_in_dimensions x :
  moment x = density_of tilted jq x * exp (q * (q - 1) * normsq (vsub (G2 x) (G1 x)) / (2 * (s * s))) *
    (Rpower (j2 x) q * Rpower (j1 x) (1 - q) / jq x).
Proof.
  unfold moment, density_of. generalize (j1_pos x) (j2_pos x) (jq_pos x); intros.
  rewrite <- !Rpower_mult_distr by (try apply Rmult_lt_0_compat; auto; apply exp_pos).
  assert (E : forall a p, Rpower (exp a) p = exp (p * a)) by (intros; unfold Rpower; now rewrite ln_exp).
  rewrite !E.
  assert (K : Rpower scale q * Rpower scale (1 - q) = scale).
  { rewrite <- Rpower_plus. replace (q + (1 - q)) with 1 by ring. now apply Rpower_1. }
  generalize (tilt_of_squares q (G1 x) (G2 x)). cbv zeta. fold (tilted x). intros T.
  assert (X : exp (q * (- normsq (G2 x) / (2 * (s * s)))) * exp ((1 - q) * (- normsq (G1 x) / (2 * (s * s)))) =
    exp (- normsq (tilted x) / (2 * (s * s))) * exp (q * (q - 1) * normsq (vsub (G2 x) (G1 x)) / (2 * (s * s)))).
  { rewrite <- !exp_plus. f_equal.
    replace (q * (- normsq (G2 x) / (2 * (s * s))) + (1 - q) * (- normsq (G1 x) / (2 * (s * s))))
      with (- (q * normsq (G2 x) + (1 - q) * normsq (G1 x)) / (2 * (s * s))) by (field; lra).
    rewrite T. field. lra. }
  transitivity ((Rpower scale q * Rpower scale (1 - q)) *
    (exp (q * (- normsq (G2 x) / (2 * (s * s)))) * exp ((1 - q) * (- normsq (G1 x) / (2 * (s * s))))) *
    (Rpower (j2 x) q * Rpower (j1 x) (1 - q))); [ring|].
  rewrite K, X. field. lra.
Qed.

(* The bound, for an integral over the space of which two things are used: it keeps order and scales, and the tilted density has
   mass at most 1 under it. The latter is the change of variables x -> G_q(x), which is not proven here. *)
Theorem tilt_bound_in_dimensions (integral : (vec I -> R) -> R) :
  (forall f g, (forall x, f x <= g x) -> integral f <= integral g) -> (forall a f, integral (fun x => a * f x) = a * integral f) ->
  integral (density_of tilted jq) <= 1 ->
  integral moment <= exp (q * (q - 1) * (Delta * Delta) / (2 * (s * s))) * M.
Proof.
  intros order scaled mass. set (K := exp (q * (q - 1) * (Delta * Delta) / (2 * (s * s))) * M).
  assert (M_pos : 0 < M).
  { generalize (hessian vzero) (jq_pos vzero).
    assert (0 < Rpower (j2 vzero) q * Rpower (j1 vzero) (1 - q)) by (apply Rmult_lt_0_compat; apply exp_pos). nra. }
  assert (K_pos : 0 < K) by (apply Rmult_lt_0_compat; [apply exp_pos | assumption]).
  apply Rle_trans with (integral (fun x => K * density_of tilted jq x)).
  - apply order. intros x. rewrite tilt_identity_in_dimensions, Rmult_assoc, (Rmult_comm K).
    apply Rmult_le_compat_l.
    { unfold density_of. left. apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; [assumption | apply exp_pos]. }
    unfold K. apply Rmult_le_compat.
    + left; apply exp_pos.
    + apply Rmult_le_pos; [left; apply Rmult_lt_0_compat; apply exp_pos | left; now apply Rinv_0_lt_compat].
    + assert (W : normsq (vsub (G2 x) (G1 x)) <= Delta * Delta).
      { rewrite <- norm_sq. generalize (sensitivity x) (norm_nonneg (vsub (G2 x) (G1 x))). intros. nra. }
      assert (E : q * (q - 1) * normsq (vsub (G2 x) (G1 x)) / (2 * (s * s)) <= q * (q - 1) * (Delta * Delta) / (2 * (s * s))).
      { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra|]. apply Rmult_le_compat_l; nra. }
      destruct E as [E|E]; [left; now apply exp_increasing | rewrite E; lra].
    + apply (Rmult_le_reg_r (jq x)); auto.
      replace (Rpower (j2 x) q * Rpower (j1 x) (1 - q) / jq x * jq x) with (Rpower (j2 x) q * Rpower (j1 x) (1 - q)) by (field; generalize (jq_pos x); lra).
      apply hessian.
  - rewrite scaled, <- (Rmult_1_r K) at 1. rewrite Rmult_1_r. rewrite <- (Rmult_1_r K) at 2. apply Rmult_le_compat_l; lra.
Qed.

End Dimensions.

Lemma cont_mul (f g : R -> R) (x : R) : continuous f x -> continuous g x -> continuous (fun y => f y * g y) x.
Proof. intros F G. exact (@continuous_mult R_UniformSpace R_AbsRing f g x F G). Qed.

Section Tilt.
Variables (q s Delta M : R) (G1 G2 J1 J2 : R -> R).
Hypotheses (q_order : 1 < q) (s_pos : 0 < s)
  (J1_derive : forall x, is_derive G1 x (J1 x)) (J2_derive : forall x, is_derive G2 x (J2 x))
  (J1_cont : forall x, continuous J1 x) (J2_cont : forall x, continuous J2 x)
  (J1_pos : forall x, 0 < J1 x) (J2_pos : forall x, 0 < J2 x)
  (sensitivity : forall x, Rabs (G2 x - G1 x) <= Delta).

Definition Gq x := (1 - q) * G1 x + q * G2 x.
Definition Jq x := (1 - q) * J1 x + q * J2 x.
Hypotheses (Jq_pos : forall x, 0 < Jq x) (hessian : forall x, Rpower (J2 x) q * Rpower (J1 x) (1 - q) <= M * Jq x).

(* the density of N(0, s^2), and of the minimiser where the gradient sum is G: phi_s(G) G' *)
Definition scale := / (2 * half * s).
Definition density (G J : R -> R) x := scale * exp (- (G x * G x) / (2 * (s * s))) * J x.

Lemma scale_pos : 0 < scale.
Proof. unfold scale. generalize half_pos; intros. apply Rinv_0_lt_compat. nra. Qed.

(* p_2^q p_1^(1-q) is the tilted density times what the shift and the Jacobians add *)
Theorem tilt_identity x :
  Rpower (density G2 J2 x) q * Rpower (density G1 J1 x) (1 - q) =
  density Gq Jq x * exp (q * (q - 1) * ((G2 x - G1 x) * (G2 x - G1 x)) / (2 * (s * s))) *
  (Rpower (J2 x) q * Rpower (J1 x) (1 - q) / Jq x).
Proof.
  unfold density. generalize scale_pos (J1_pos x) (J2_pos x) (Jq_pos x); intros.
  rewrite <- !Rpower_mult_distr by (try apply Rmult_lt_0_compat; auto; apply exp_pos).
  assert (E : forall a p, Rpower (exp a) p = exp (p * a)) by (intros; unfold Rpower; now rewrite ln_exp).
  rewrite !E.
  assert (K : Rpower scale q * Rpower scale (1 - q) = scale).
  { rewrite <- Rpower_plus. replace (q + (1 - q)) with 1 by ring. now apply Rpower_1. }
  assert (X : exp (q * (- (G2 x * G2 x) / (2 * (s * s)))) * exp ((1 - q) * (- (G1 x * G1 x) / (2 * (s * s)))) =
    exp (- (Gq x * Gq x) / (2 * (s * s))) * exp (q * (q - 1) * ((G2 x - G1 x) * (G2 x - G1 x)) / (2 * (s * s)))).
  { rewrite <- !exp_plus. f_equal. unfold Gq. field. lra. }
  transitivity ((Rpower scale q * Rpower scale (1 - q)) *
    (exp (q * (- (G2 x * G2 x) / (2 * (s * s)))) * exp ((1 - q) * (- (G1 x * G1 x) / (2 * (s * s))))) *
    (Rpower (J2 x) q * Rpower (J1 x) (1 - q))); [ring|].
  rewrite K, X. field. lra.
Qed.

Lemma Gq_derive x : is_derive Gq x (Jq x).
Proof.
  unfold Gq, Jq. apply (is_derive_plus (fun x => (1 - q) * G1 x) (fun x => q * G2 x)); apply @is_derive_scal; auto.
Qed.

Lemma Jq_cont x : continuous Jq x.
Proof.
  unfold Jq. apply (continuous_plus (fun x => (1 - q) * J1 x) (fun x => q * J2 x));
    (apply cont_mul; [apply continuous_const | auto]).
Qed.

Lemma density_derive x : is_derive (fun x => Phi (Gq x / s)) x (density Gq Jq x).
Proof.
  replace (density Gq Jq x) with (scal (Jq x / s) (bell (Gq x / s) / (2 * half))).
  - apply (is_derive_comp Phi (fun x => Gq x / s)); [apply Phi_derive|].
    unfold Rdiv. apply (is_derive_ext (fun x => scal (/ s) (Gq x))); [intros; unfold scal; simpl; unfold mult; simpl; ring|].
    replace (Jq x * / s) with (scal (/ s) (Jq x)) by (unfold scal; simpl; unfold mult; simpl; ring).
    apply @is_derive_scal, Gq_derive.
  - unfold density, scale, bell, scal; simpl; unfold mult; simpl. generalize half_pos; intros.
    replace (- (Gq x / s * (Gq x / s)) / 2) with (- (Gq x * Gq x) / (2 * (s * s))) by (field; lra). field. lra.
Qed.

Lemma cont_of_derive (f : R -> R) (f' x : R) : is_derive f x f' -> continuous f x.
Proof. intros H. apply (ex_derive_continuous f). now exists f'. Qed.

Lemma density_cont (G J : R -> R) (x : R) : (forall y, continuous G y) -> (forall y, continuous J y) -> continuous (density G J) x.
Proof.
  intros HG HJ. unfold density. apply cont_mul; auto.
  apply cont_mul; [apply continuous_const|].
  apply (continuous_comp G (fun g => exp (- (g * g) / (2 * (s * s))))); auto.
  apply (ex_derive_continuous (fun g => exp (- (g * g) / (2 * (s * s))))). auto_derive. easy.
Qed.

Lemma mass_below_one a b : RInt (density Gq Jq) a b <= 1.
Proof.
  assert (H : is_RInt (density Gq Jq) a b (minus (Phi (Gq b / s)) (Phi (Gq a / s)))).
  { apply (is_RInt_derive (fun x => Phi (Gq x / s)) (density Gq Jq)).
    - intros; apply density_derive.
    - intros x _. apply density_cont; [intros; eapply cont_of_derive, Gq_derive | apply Jq_cont]. }
  rewrite (is_RInt_unique (V := R_CompleteNormedModule) _ _ _ _ H). unfold minus, plus, opp; simpl.
  generalize (Phi_below (Gq b / s)) (Phi_above (Gq a / s)); lra.
Qed.

Lemma density_pos G J x : 0 < J x -> 0 < density G J x.
Proof. intros. unfold density. apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; [apply scale_pos | apply exp_pos]. Qed.

Lemma power_cont (f : R -> R) (p x : R) : (forall y, continuous f y) -> (forall y, 0 < f y) -> continuous (fun x => Rpower (f x) p) x.
Proof.
  intros C P. apply (continuous_comp f (fun y => Rpower y p)); auto.
  apply (ex_derive_continuous (fun y => Rpower y p)). unfold Rpower. generalize (P x); intros. auto_derive. exact H.
Qed.

Definition renyi_integrand x := Rpower (density G2 J2 x) q * Rpower (density G1 J1 x) (1 - q).

Lemma integrand_cont x : continuous renyi_integrand x.
Proof.
  unfold renyi_integrand. apply cont_mul;
    apply power_cont; intros; (apply density_pos; auto) || (apply density_cont; auto; intros; eapply cont_of_derive; auto).
Qed.

(* Theorem 1 of the design: over any interval, hence over the line, the integral that defines e^((q-1) R_q) is at most
   e^(q(q-1) Delta^2 / (2 s^2)) times the largest ratio of Jacobians. *)
Theorem tilt_bound a b : a <= b -> RInt renyi_integrand a b <= exp (q * (q - 1) * (Delta * Delta) / (2 * (s * s))) * M.
Proof.
  intros Hab. set (K := exp (q * (q - 1) * (Delta * Delta) / (2 * (s * s))) * M).
  assert (M_pos : 0 < M).
  { generalize (hessian 0) (Jq_pos 0). assert (0 < Rpower (J2 0) q * Rpower (J1 0) (1 - q)) by (apply Rmult_lt_0_compat; apply exp_pos). nra. }
  assert (K_pos : 0 < K) by (apply Rmult_lt_0_compat; [apply exp_pos | assumption]).
  assert (I : ex_RInt (density Gq Jq) a b).
  { apply (@ex_RInt_continuous R_CompleteNormedModule). intros x _.
    apply density_cont; [intros; eapply cont_of_derive, Gq_derive | apply Jq_cont]. }
  apply Rle_trans with (RInt (fun x => scal K (density Gq Jq x)) a b).
  - apply RInt_le; auto.
    + apply (@ex_RInt_continuous R_CompleteNormedModule). intros; apply integrand_cont.
    + now apply (@ex_RInt_scal R_NormedModule).
    + intros x _. unfold renyi_integrand. rewrite tilt_identity. unfold scal; simpl; unfold mult; simpl.
      rewrite Rmult_assoc, (Rmult_comm K). apply Rmult_le_compat_l; [left; now apply density_pos|].
      unfold K. apply Rmult_le_compat.
      * left; apply exp_pos.
      * apply Rmult_le_pos; [left; apply Rmult_lt_0_compat; apply exp_pos | left; now apply Rinv_0_lt_compat].
      * assert (W : (G2 x - G1 x) * (G2 x - G1 x) <= Delta * Delta).
        { generalize (sensitivity x) (Rabs_pos (G2 x - G1 x)). intros.
          replace ((G2 x - G1 x) * (G2 x - G1 x)) with (Rabs (G2 x - G1 x) * Rabs (G2 x - G1 x)) by (rewrite <- Rabs_mult; apply Rabs_pos_eq; apply Rle_0_sqr).
          nra. }
        assert (E : q * (q - 1) * ((G2 x - G1 x) * (G2 x - G1 x)) / (2 * (s * s)) <= q * (q - 1) * (Delta * Delta) / (2 * (s * s))).
        { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; nra|]. apply Rmult_le_compat_l; nra. }
        destruct E as [E|E]; [left; now apply exp_increasing | rewrite E; lra].
      * apply (Rmult_le_reg_r (Jq x)); auto. replace (Rpower (J2 x) q * Rpower (J1 x) (1 - q) / Jq x * Jq x) with (Rpower (J2 x) q * Rpower (J1 x) (1 - q)) by (field; generalize (Jq_pos x); lra).
        apply hessian.
  - rewrite (@RInt_scal R_CompleteNormedModule) by assumption. unfold scal; simpl; unfold mult; simpl.
    rewrite <- (Rmult_1_r K) at 2. apply Rmult_le_compat_l; [lra | apply mass_below_one].
Qed.

End Tilt.

(* --- the Hessian cost of one record, zero-out and replace (Corollary 1) --- *)

Definition cost_with (q r : R) : R := q * ln (1 + r) - ln (1 + q * r).
Definition cost_without (q r : R) : R := - (q - 1) * ln (1 + r) - ln (1 - (q - 1) * r).

Lemma increasing_by_derivative (f f' : R -> R) (a b : R) : a <= b ->
  (forall x, a <= x <= b -> is_derive f x (f' x)) -> (forall x, a <= x <= b -> 0 <= f' x) -> f a <= f b.
Proof.
  intros [H| ->] D P; [|lra].
  destruct (MVT_gen f a b f') as [c [Hc E]].
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply D; lra.
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply continuity_pt_filterlim. eapply cont_of_derive, D; lra.
  - rewrite Rmin_left, Rmax_right in Hc by lra. specialize (P c ltac:(lra)). nra.
Qed.

Lemma cost_with_monotone q r rho : 1 < q -> 0 <= r -> r <= rho -> cost_with q r <= cost_with q rho.
Proof.
  intros Hq Hr H. apply (increasing_by_derivative (cost_with q) (fun x => q * (q - 1) * x / ((1 + x) * (1 + q * x)))); auto.
  - intros x Hx. unfold cost_with. assert (0 < 1 + q * x) by nra. auto_derive; [repeat split; lra|]. field. repeat split; lra.
  - intros x Hx. apply Rmult_le_pos; [apply Rmult_le_pos; nra | left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; nra].
Qed.

Lemma cost_without_monotone q r rho : 1 < q -> 0 <= r -> r <= rho -> (q - 1) * rho < 1 -> cost_without q r <= cost_without q rho.
Proof.
  intros Hq Hr H V. apply (increasing_by_derivative (cost_without q) (fun x => q * (q - 1) * x / ((1 + x) * (1 - (q - 1) * x)))); auto.
  - intros x Hx. unfold cost_without. assert (0 < 1 - (q - 1) * x) by nra. auto_derive; [repeat split; lra|]. field. repeat split; lra.
  - intros x Hx. apply Rmult_le_pos; [apply Rmult_le_pos; nra | left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; nra].
Qed.

Lemma power_of_product a b p : 0 < a -> 0 < b -> Rpower (a * b) p = Rpower a p * Rpower b p.
Proof. intros. symmetry. now apply Rpower_mult_distr. Qed.

(* Replace: curvatures r_1, r_2 of the two records in [0, rho]. The ratio of Jacobians is at most e^(h_+(rho) + h_-(rho)), which
   is 1 / (1 - q(q-1) rho^2 / (1 + rho)). *)
Theorem replace_hessian q rho H r1 r2 : 1 < q -> 0 < H -> 0 <= r1 <= rho -> 0 <= r2 <= rho -> (q - 1) * rho < 1 ->
  0 < (1 - q) * (H * (1 + r1)) + q * (H * (1 + r2)) /\
  Rpower (H * (1 + r2)) q * Rpower (H * (1 + r1)) (1 - q) <=
  exp (cost_with q rho + cost_without q rho) * ((1 - q) * (H * (1 + r1)) + q * (H * (1 + r2))).
Proof.
  intros Hq HH H1 H2 V.
  replace ((1 - q) * (H * (1 + r1)) + q * (H * (1 + r2))) with (H * (1 + q * r2 - (q - 1) * r1)) by ring.
  assert (Y : 0 < 1 - (q - 1) * r1) by nra. assert (X : 0 < 1 + q * r2) by nra.
  assert (XY : (1 + q * r2) * (1 - (q - 1) * r1) <= 1 + q * r2 - (q - 1) * r1).
  { assert (0 <= q * r2 * ((q - 1) * r1)) by (apply Rmult_le_pos; nra). lra. }
  assert (P : 0 < (1 + q * r2) * (1 - (q - 1) * r1)) by nra.
  split; [apply Rmult_lt_0_compat; lra|].
  rewrite !power_of_product by lra.
  replace (Rpower H q * Rpower (1 + r2) q * (Rpower H (1 - q) * Rpower (1 + r1) (1 - q)))
    with ((Rpower H q * Rpower H (1 - q)) * (Rpower (1 + r2) q * Rpower (1 + r1) (1 - q))) by ring.
  rewrite <- Rpower_plus. replace (q + (1 - q)) with 1 by ring. rewrite Rpower_1 by assumption.
  replace (exp (cost_with q rho + cost_without q rho) * (H * (1 + q * r2 - (q - 1) * r1)))
    with (H * (exp (cost_with q rho + cost_without q rho) * (1 + q * r2 - (q - 1) * r1))) by ring.
  apply Rmult_le_compat_l; [lra|].
  apply Rle_trans with (exp (cost_with q r2 + cost_without q r1) * ((1 + q * r2) * (1 - (q - 1) * r1))).
  - right. unfold cost_with, cost_without, Rpower. rewrite <- exp_plus.
    rewrite <- (exp_ln (1 + q * r2)) at 2 by assumption. rewrite <- (exp_ln (1 - (q - 1) * r1)) at 2 by assumption.
    rewrite <- !exp_plus. f_equal. ring.
  - apply Rmult_le_compat; [left; apply exp_pos | lra | | exact XY].
    generalize (cost_with_monotone q r2 rho Hq ltac:(lra) ltac:(lra)) (cost_without_monotone q r1 rho Hq ltac:(lra) ltac:(lra) V). intros A B.
    destruct (Rle_lt_or_eq_dec (cost_with q r2 + cost_without q r1) (cost_with q rho + cost_without q rho)) as [L|E]; [lra | left; now apply exp_increasing | rewrite E; lra].
Qed.

Lemma replace_cost_closed q rho : 1 < q -> 0 <= rho -> (q - 1) * rho < 1 ->
  cost_with q rho + cost_without q rho = - ln (1 - q * (q - 1) * (rho * rho) / (1 + rho)).
Proof.
  intros Hq Hr V. unfold cost_with, cost_without.
  assert (A : 0 < 1 + q * rho) by nra. assert (B : 0 < 1 - (q - 1) * rho) by lra.
  replace (1 - q * (q - 1) * (rho * rho) / (1 + rho)) with ((1 + q * rho) * (1 - (q - 1) * rho) / (1 + rho)) by (field; lra).
  rewrite ln_div by nra. rewrite ln_mult by assumption. ring.
Qed.

Theorem zero_out_cost_without_dominates q rho : 1 < q -> 0 <= rho -> (q - 1) * rho < 1 -> cost_with q rho <= cost_without q rho.
Proof.
  intros Hq Hr V.
  assert (0 <= cost_without q rho - cost_with q rho); [|lra].
  replace 0 with (cost_without q 0 - cost_with q 0) at 1.
  2: { unfold cost_without, cost_with. rewrite !Rmult_0_r, Rplus_0_r, Rminus_0_r, ln_1. ring. }
  apply (increasing_by_derivative (fun x => cost_without q x - cost_with q x)
    (fun x => q * (q - 1) * x / (1 + x) * ((2 * q - 1) * x / ((1 - (q - 1) * x) * (1 + q * x))))); auto.
  - intros x Hx. assert (0 < 1 - (q - 1) * x) by nra. assert (0 < 1 + q * x) by nra.
    unfold cost_without, cost_with. auto_derive; [repeat split; lra|]. field. repeat split; lra.
  - intros x Hx. assert (0 < 1 - (q - 1) * x) by nra. assert (0 < 1 + q * x) by nra.
    apply Rmult_le_pos.
    + apply Rmult_le_pos; [apply Rmult_le_pos; nra | left; apply Rinv_0_lt_compat; lra].
    + apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra].
Qed.
