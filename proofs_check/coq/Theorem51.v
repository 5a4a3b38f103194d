(* Theorem 5.1 of Chourasia & Shah 2023, parts 1 and 2, as printed. Its own proof goes through log-Sobolev inequalities; here
   the tight bound is shown never to exceed the printed one, so that the printed statements follow from shifted interpolation. *)
From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws Shift ClosedForms NoisyGD.
Import ListNotations.
Local Notation Forall := List.Forall.
Open Scope R_scope.

Definition condition_number (lambda beta : R) : R := (lambda + beta) / lambda.
Definition printed_step_size (lambda beta : R) : R := / (2 * (lambda + beta)).
(* sigma^2 = 4 q L^2 / (lambda eps n^2) *)
Definition printed_noise (q eps L lambda n : R) : R := 4 * q * (L * L) / (lambda * eps * (n * n)).
(* G.9 and G.15: (4 q L^2 / (lambda sigma^2 n^2)) (1 - e^(-lambda eta T/2)) e^(-lambda eta K/2) *)
Definition printed_bound (q L lambda sigma2 n eta : R) (T K : nat) : R :=
  4 * q * (L * L) / (lambda * sigma2 * (n * n)) * (1 - exp (- (lambda * eta * INR T) / 2)) * exp (- (lambda * eta * INR K) / 2).

Lemma exp_above x : 1 + x <= exp x.
Proof. destruct (Req_dec x 0) as [->|N]; [rewrite exp_0; lra | left; now apply exp_ineq1]. Qed.

Lemma one_minus_exp w : 0 <= w -> Rmin w 1 / 2 <= 1 - exp (- w).
Proof.
  intros H. assert (E : exp (- w) <= / (1 + w)).
  { rewrite exp_Ropp. apply Rinv_le_contravar; [lra | apply exp_above]. }
  assert (Rmin w 1 / 2 <= 1 - / (1 + w)); [|lra].
  apply (Rmult_le_reg_r (1 + w)); [lra|]. replace ((1 - / (1 + w)) * (1 + w)) with w by (field; lra).
  destruct (Rle_or_lt w 1); [rewrite Rmin_left by lra; nra | rewrite Rmin_right by lra; lra].
Qed.

(* tanh is concave: (1 + c)(1 - c^T) <= T (1 - c)(1 + c^T) *)
Lemma powers_pair c T : 0 <= c <= 1 -> (1 + c) * (1 - c ^ T) <= INR T * (1 - c) * (1 + c ^ T).
Proof.
  intros Hc. induction T as [|T IH]; [simpl; lra|]. rewrite S_INR. simpl pow. set (p := c ^ T) in *.
  assert (P : 0 <= p) by (apply pow_le; lra).
  assert (B : INR T * ((1 - c) * p) <= 1 - p).
  { unfold p. clear IH P p. induction T as [|T IH]; [simpl; lra|]. rewrite S_INR. simpl pow.
    assert (0 <= c ^ T <= 1) by (split; [apply pow_le; lra | rewrite <- (pow1 T); apply pow_incr; lra]).
    set (p := c ^ T) in *.
    assert (c * (INR T * ((1 - c) * p)) <= c * (1 - p)) by (apply Rmult_le_compat_l; lra).
    assert (0 <= (1 - c) * (1 - c * p)) by (apply Rmult_le_pos; nra). lra. }
  assert ((1 - c) * (INR T * ((1 - c) * p)) <= (1 - c) * (1 - p)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma power_below_exp c K : 0 <= c -> c ^ K <= exp (- ((1 - c) * INR K)).
Proof.
  intros H. replace (- ((1 - c) * INR K)) with (INR K * (c - 1)) by ring.
  assert (E : c <= exp (c - 1)) by (generalize (exp_above (c - 1)); lra).
  assert (exp (INR K * (c - 1)) = exp (c - 1) ^ K) as ->.
  { clear. induction K as [|K IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
    rewrite S_INR. simpl. rewrite <- IH, <- exp_plus. f_equal. ring. }
  apply pow_incr. lra.
Qed.

Section Printed.
Variables (q L lambda beta sigma2 n eta : R).
Hypotheses (q_order : 1 < q) (lambda_pos : 0 < lambda) (beta_nonneg : 0 <= beta)
  (sigma_pos : 0 < sigma2) (n_pos : 0 < n) (eta_pos : 0 < eta) (step_size : eta < / (lambda + beta)).

Let c := 1 - eta * lambda.
Let s := eta * (2 * L) / n.
Let v := 2 * eta * sigma2.

Lemma c_between : 0 < c < 1.
Proof.
  assert (eta * (lambda + beta) < 1).
  { apply (Rmult_lt_reg_r (/ (lambda + beta))); [apply Rinv_0_lt_compat; lra|].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r, Rmult_1_l by lra. exact step_size. }
  unfold c. nra.
Qed.

(* The tight bound is never above the printed one. *)
Theorem tight_below_printed T K : (0 < T)%nat -> q * gdp_squared c s v T K / 2 <= printed_bound q L lambda sigma2 n eta T K.
Proof.
  intros HT. generalize c_between; intros Hc.
  assert (Hc' : 0 <= c < 1) by lra. assert (Hc'' : 0 <= c <= 1) by lra.
  generalize (pow_below_1 c Hc' T HT) (pow_nonneg c Hc'' T) (pow_nonneg c Hc'' (2 * K)) (pow_below_1 c Hc' (2 * (T + K)) ltac:(lia)); intros P1 P0 PK PT.
  set (full := 4 * q * (L * L) / (lambda * sigma2 * (n * n))).
  assert (F : 0 <= full).
  { unfold full. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; repeat apply Rmult_lt_0_compat; lra]. }
  assert (E : q * gdp_squared c s v T K / 2
    = full * ((1 + c) / 4 * ((1 - c ^ T) * (1 - c ^ T) / (1 - c ^ (2 * (T + K)))) * c ^ (2 * K))).
  { unfold gdp_squared, full, s, v. revert P0 P1 PK PT. generalize (c ^ (2 * (T + K))) (c ^ (2 * K)) (c ^ T); intros x y z ? ? ? ?.
    replace eta with ((1 - c) / lambda) by (unfold c; field; lra). field. repeat split; try lra. }
  rewrite E. unfold printed_bound. fold full. rewrite (Rmult_assoc full (1 - exp (- (lambda * eta * INR T) / 2))). apply Rmult_le_compat_l; auto.
  (* the decay *)
  assert (D : c ^ (2 * K) <= exp (- (lambda * eta * INR K) / 2)).
  { apply Rle_trans with (c ^ K); [apply pow_falls; [lra | lia]|].
    apply Rle_trans with (1 := power_below_exp c K ltac:(lra)).
    replace (1 - c) with (lambda * eta) by (unfold c; ring).
    generalize (pos_INR K); intros. assert (0 <= lambda * eta * INR K) by (apply Rmult_le_pos; nra).
    destruct (Req_dec (lambda * eta * INR K) 0) as [Z|N]; [rewrite Z; right; f_equal; field | left; apply exp_increasing; lra]. }
  (* the part with the record *)
  assert (G : (1 - c ^ T) * (1 - c ^ T) / (1 - c ^ (2 * (T + K))) <= (1 - c ^ T) / (1 + c ^ T)).
  { assert (c ^ (2 * (T + K)) <= c ^ T * c ^ T) by (rewrite <- pow_add; apply pow_falls; [lra | lia]).
    apply (Rmult_le_reg_r (1 - c ^ (2 * (T + K)))); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply (Rmult_le_reg_r (1 + c ^ T)); [lra|].
    replace ((1 - c ^ T) / (1 + c ^ T) * (1 - c ^ (2 * (T + K))) * (1 + c ^ T)) with ((1 - c ^ T) * (1 - c ^ (2 * (T + K)))) by (field; lra).
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra. }
  assert (W : (1 + c) / 4 * ((1 - c ^ T) / (1 + c ^ T)) <= 1 - exp (- (lambda * eta * INR T) / 2)).
  { set (w := lambda * eta * INR T / 2). replace (- (lambda * eta * INR T) / 2) with (- w) by (unfold w; field).
    generalize (pos_INR T); intros.
    assert (W0 : 0 <= w) by (unfold w; apply Rmult_le_pos; [apply Rmult_le_pos; nra | lra]).
    apply Rle_trans with (2 := one_minus_exp w W0).
    assert (A : (1 + c) / 4 * ((1 - c ^ T) / (1 + c ^ T)) <= w / 2).
    { generalize (powers_pair c T Hc''). replace (1 - c) with (lambda * eta) by (unfold c; ring). intros PP.
      apply (Rmult_le_reg_r (4 * (1 + c ^ T))); [lra|].
      replace ((1 + c) / 4 * ((1 - c ^ T) / (1 + c ^ T)) * (4 * (1 + c ^ T))) with ((1 + c) * (1 - c ^ T)) by (field; lra).
      apply Rle_trans with (1 := PP). unfold w. right. field. }
    assert (B : (1 + c) / 4 * ((1 - c ^ T) / (1 + c ^ T)) <= 1 / 2).
    { apply (Rmult_le_reg_r (4 * (1 + c ^ T))); [lra|].
      replace ((1 + c) / 4 * ((1 - c ^ T) / (1 + c ^ T)) * (4 * (1 + c ^ T))) with ((1 + c) * (1 - c ^ T)) by (field; lra). nra. }
    unfold Rmin. destruct (Rle_dec w 1); lra. }
  apply Rmult_le_compat; auto.
  - apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; lra].
  - apply Rle_trans with (2 := W). apply Rmult_le_compat_l; lra.
Qed.

Lemma printed_below_full T K : printed_bound q L lambda sigma2 n eta T K
  <= 4 * q * (L * L) / (lambda * sigma2 * (n * n)) * exp (- (lambda * eta * INR K) / 2).
Proof.
  unfold printed_bound. apply Rmult_le_compat_r; [left; apply exp_pos|].
  rewrite <- (Rmult_1_r (4 * q * (L * L) / (lambda * sigma2 * (n * n)))) at 2. apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; repeat apply Rmult_lt_0_compat; lra].
  - generalize (exp_pos (- (lambda * eta * INR T) / 2)). lra.
Qed.

End Printed.

(* Part 1: with the printed noise no number of steps costs more than eps_dp. *)
Lemma printed_noise_calibrates q eps L lambda n : 0 < q -> 0 < eps -> 0 < L -> 0 < lambda -> 0 < n ->
  4 * q * (L * L) / (lambda * printed_noise q eps L lambda n * (n * n)) = eps.
Proof. intros. unfold printed_noise. field. repeat split; lra. Qed.

(* Part 2, (16): K >= 4 kappa log(eps_dp / eps_dd) *)
Lemma printed_deletion_steps eps_dp eps_dd lambda beta K : 0 < eps_dd -> 0 < eps_dp -> 0 < lambda -> 0 <= beta ->
  4 * condition_number lambda beta * ln (eps_dp / eps_dd) <= INR K ->
  eps_dp * exp (- (lambda * printed_step_size lambda beta * INR K) / 2) <= eps_dd.
Proof.
  intros Hd Hp Hl Hb H. rewrite ln_div in H by assumption.
  rewrite <- (exp_ln eps_dp Hp) at 1. rewrite <- (exp_ln eps_dd Hd) at 1. rewrite <- exp_plus.
  assert (ln eps_dp + - (lambda * printed_step_size lambda beta * INR K) / 2 <= ln eps_dd).
  { unfold condition_number in H. unfold printed_step_size.
    assert (E : - (lambda * / (2 * (lambda + beta)) * INR K) / 2 = - (INR K / (4 * ((lambda + beta) / lambda)))) by (field; lra).
    rewrite E. assert (0 < 4 * ((lambda + beta) / lambda)) by (apply Rmult_lt_0_compat; [lra | apply Rdiv_lt_0_compat; lra]).
    assert (ln eps_dp - ln eps_dd <= INR K / (4 * ((lambda + beta) / lambda))); [|lra].
    apply (Rmult_le_reg_l (4 * ((lambda + beta) / lambda))); [assumption|].
    replace (4 * ((lambda + beta) / lambda) * (INR K / (4 * ((lambda + beta) / lambda)))) with (INR K) by (field; split; lra).
    exact H. }
  destruct H0 as [H0|H0]; [left; now apply exp_increasing | rewrite H0; lra].
Qed.

Section AsPrinted.
Context {I : coordinates}.
Variables (q eps_dp eps_dd L lambda beta : R) (n : nat).
Hypotheses (q_order : 1 < q) (dp_pos : 0 < eps_dp) (dd_pos : 0 < eps_dd) (L_pos : 0 < L) (lambda_pos : 0 < lambda) (beta_pos : 0 < beta)
  (n_pos : (0 < n)%nat).

Let eta := printed_step_size lambda beta.
Let sigma2 := printed_noise q eps_dp L lambda (INR n).

Lemma printed_numbers : 0 < INR n /\ 0 < eta /\ 0 < sigma2 /\ eta < / (lambda + beta) /\ eta * (lambda + beta) = 1 / 2.
Proof.
  assert (0 < INR n) by (apply lt_0_INR; lia). unfold eta, sigma2, printed_step_size, printed_noise. repeat split; auto.
  - apply Rinv_0_lt_compat; lra.
  - apply Rdiv_lt_0_compat; repeat apply Rmult_lt_0_compat; lra.
  - apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | lra].
  - field; lra.
Qed.

Notation runs := (history eta lambda 0 sigma2 (2 * L) n).

(* Theorem 5.1, parts 1 and 2: T steps with a record of an L-Lipschitz, convex, beta-smooth loss in place of another, then K steps
   after its erasure. With K = 0 this is (q, eps_dp)-Renyi DP for any T; with K by (16) it is (q, eps_dd)-data deletion. *)
Theorem theorem_5_1 (rho : Law (vec I)) before after :
  Forall (differ 0 beta (2 * L) n) before -> Forall (allowed 0 beta n) after -> (0 < length before)%nat ->
  renyi q (eps_dp * exp (- (lambda * eta * INR (length after)) / 2))
    (bind rho (run one (runs before after))) (bind rho (run two (runs before after))).
Proof.
  intros H H' T. destruct printed_numbers as [Pn [Pe [Ps [Pl Ph]]]].
  apply (renyi_monotone _ _ _ _ _ _) with (2 := noisy_descent eta lambda 0 beta sigma2 (2 * L) n Pe Ps n_pos ltac:(lra) ltac:(lra) ltac:(nra) ltac:(nra) ltac:(lra)
    (renyi_of_order q q_order) rho before after H H' ltac:(lia)).
  rewrite !Rplus_0_r.
  apply Rle_trans with (1 := tight_below_printed q L lambda beta sigma2 (INR n) eta q_order lambda_pos ltac:(lra) Ps Pn Pe Pl _ _ T).
  apply Rle_trans with (1 := printed_below_full q L lambda sigma2 (INR n) eta q_order lambda_pos Ps Pn _ _).
  generalize (printed_noise_calibrates q eps_dp L lambda (INR n) ltac:(lra) dp_pos L_pos lambda_pos Pn). fold sigma2. intros ->. lra.
Qed.

Corollary theorem_5_1_privacy (rho : Law (vec I)) before : Forall (differ 0 beta (2 * L) n) before -> (0 < length before)%nat ->
  renyi q eps_dp (bind rho (run one (runs before []))) (bind rho (run two (runs before []))).
Proof.
  intros H T. generalize (theorem_5_1 rho before [] H (Forall_nil _) T). simpl length. simpl (INR 0).
  rewrite Rmult_0_r, Ropp_0. unfold Rdiv. rewrite Rmult_0_l, exp_0, Rmult_1_r. auto.
Qed.

Corollary theorem_5_1_deletion (rho : Law (vec I)) before after :
  Forall (differ 0 beta (2 * L) n) before -> Forall (allowed 0 beta n) after -> (0 < length before)%nat ->
  4 * condition_number lambda beta * ln (eps_dp / eps_dd) <= INR (length after) ->
  renyi q eps_dd (bind rho (run one (runs before after))) (bind rho (run two (runs before after))).
Proof.
  intros H H' T K. apply renyi_monotone with (2 := theorem_5_1 rho before after H H' T).
  apply printed_deletion_steps; auto; lra.
Qed.

End AsPrinted.

(* --- the sentence after Theorem 5.1: "for r <= sqrt(q d / eps_dd) the deletion steps are enough for utility" --- *)

Definition steps_for_deletion (kappa eps_dp eps_dd : R) : R := 4 * kappa * ln (eps_dp / eps_dd).
(* (17) *)
Definition steps_for_utility (kappa q d r eps_dp : R) : R := 4 * kappa * ln (Rmax (5 * kappa) (8 * eps_dp * (r * r) / (q * d))).

(* False at its own limit, for all parameters. *)
Theorem batch_sentence_fails kappa q d r eps_dp eps_dd : 1 <= kappa -> 0 < q -> 0 < d -> 0 < eps_dp -> 0 < eps_dd ->
  r * r = q * d / eps_dd -> steps_for_deletion kappa eps_dp eps_dd < steps_for_utility kappa q d r eps_dp.
Proof.
  intros Hk Hq Hd Hp Hdd Hr. unfold steps_for_deletion, steps_for_utility. apply Rmult_lt_compat_l; [lra|].
  apply ln_increasing; [now apply Rdiv_lt_0_compat|].
  apply Rlt_le_trans with (2 := Rmax_r _ _). rewrite Hr.
  replace (8 * eps_dp * (q * d / eps_dd) / (q * d)) with (8 * (eps_dp / eps_dd)) by (field; repeat split; lra).
  generalize (Rdiv_lt_0_compat _ _ Hp Hdd). lra.
Qed.

(* True with a factor 8, where eps_dp / eps_dd >= 5 kappa. *)
Theorem batch_sentence_repaired kappa q d r eps_dp eps_dd : 1 <= kappa -> 0 < q -> 0 < d -> 0 < eps_dp -> 0 < eps_dd ->
  5 * kappa <= eps_dp / eps_dd -> 8 * (r * r) <= q * d / eps_dd -> steps_for_utility kappa q d r eps_dp <= steps_for_deletion kappa eps_dp eps_dd.
Proof.
  intros Hk Hq Hd Hp Hdd H5 Hr. unfold steps_for_deletion, steps_for_utility. apply Rmult_le_compat_l; [lra|].
  assert (P : 0 < Rmax (5 * kappa) (8 * eps_dp * (r * r) / (q * d))) by (apply Rlt_le_trans with (2 := Rmax_l _ _); lra).
  assert (Rmax (5 * kappa) (8 * eps_dp * (r * r) / (q * d)) <= eps_dp / eps_dd).
  { apply Rmax_lub; auto. apply (Rmult_le_reg_r (q * d)); [nra|].
    replace (8 * eps_dp * (r * r) / (q * d) * (q * d)) with (eps_dp * (8 * (r * r))) by (field; split; lra).
    replace (eps_dp / eps_dd * (q * d)) with (eps_dp * (q * d / eps_dd)) by (field; lra).
    apply Rmult_le_compat_l; lra. }
  destruct H as [H|H]; [left; now apply ln_increasing | rewrite H; lra].
Qed.
