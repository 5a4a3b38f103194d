(* Noisy gradient descent on a table of records: the step contracts (Lemma G.12), neighbouring tables are s apart, and the run
   costs the closed form, in Gaussian differential privacy and in Renyi's at every order. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws Shift ClosedForms.
Import ListNotations.
Local Notation Forall := List.Forall.
Open Scope R_scope.

Section Descent.
Context {I : coordinates}.
Notation V := (vec I).
Implicit Types f g : V -> V.

(* The gradient of a function whose Hessian lies between a and b, by what Baillon and Haddad's theorem says of it: the gradient
   less a times the identity is cocoercive. *)
Definition curved_between (a b : R) g : Prop :=
  forall x y, let d := vsub x y in let u := vsub (vsub (g x) (g y)) (vscal a d) in normsq u <= (b - a) * inner u d.

(* Lemma G.12: steps of size eta <= 2/(m + M) contract by 1 - eta m *)
Lemma step_contracts m M eta g : m <= M -> 0 <= eta -> eta * (m + M) <= 2 -> eta * m <= 1 -> curved_between m M g ->
  forall x y, norm (vsub (vsub x (vscal eta (g x))) (vsub y (vscal eta (g y)))) <= (1 - eta * m) * norm (vsub x y).
Proof.
  intros HM He H1 H2 C x y. set (d := vsub x y). set (u := vsub (vsub (g x) (g y)) (vscal m d)).
  specialize (C x y). simpl in C. fold d in C. fold u in C.
  replace (vsub (vsub x (vscal eta (g x))) (vsub y (vscal eta (g y)))) with (vadd (vscal (1 - eta * m) d) (vscal (- eta) u))
    by (unfold u, d; vec_ring).
  apply norm_le_sq; [generalize (norm_nonneg d); nra|].
  rewrite normsq_combination, (inner_sym d u), <- (norm_sq d).
  replace ((1 - eta * m) * norm d * ((1 - eta * m) * norm d)) with ((1 - eta * m) * (1 - eta * m) * (norm d * norm d)) by ring.
  generalize (normsq_nonneg u); intros U.
  assert (K : eta * eta * normsq u <= 2 * eta * (1 - eta * m) * inner u d).
  { destruct (Req_dec m M) as [E|N].
    - rewrite E in C. replace (normsq u) with 0 by (rewrite Rminus_eq_0, Rmult_0_l in C; lra).
      assert (u = vzero) as -> by (apply normsq_zero_eq; rewrite <- E in C; rewrite E in C; rewrite Rminus_eq_0, Rmult_0_l in C; lra).
      replace (inner vzero d) with 0; [lra|]. replace (vzero : V) with (vscal 0 d) by vec_ring. rewrite inner_scal; ring.
    - assert (0 <= inner u d).
      { destruct (Rle_or_lt 0 (inner u d)); auto. assert (0 < M - m) by lra. nra. }
      apply Rle_trans with (eta * eta * ((M - m) * inner u d)); [apply Rmult_le_compat_l; nra|].
      replace (eta * eta * ((M - m) * inner u d)) with (eta * inner u d * (eta * (M - m))) by ring.
      replace (2 * eta * (1 - eta * m) * inner u d) with (eta * inner u d * (2 * (1 - eta * m))) by ring.
      apply Rmult_le_compat_l; nra. }
  nra.
Qed.

(* a table: one gradient field for each of its n slots; the null record's is zero *)
Definition table := list (V -> V).

Fixpoint gradient_sum (D : table) (x : V) : V :=
  match D with nil => vzero | g :: D => vadd (g x) (gradient_sum D x) end.

Definition objective_gradient (lambda n : R) (D : table) (x : V) : V :=
  vadd (vscal (/ n) (gradient_sum D x)) (vscal lambda x).

Definition descend (eta lambda n : R) (D : table) (x : V) : V := vsub x (vscal eta (objective_gradient lambda n D x)).

Lemma null_record a b : a <= 0 -> 0 <= b -> curved_between a b (fun _ => vzero).
Proof.
  intros Ha Hb x y. simpl. set (d := vsub x y).
  replace (vsub (vsub vzero vzero) (vscal a d)) with (vscal (- a) d) by vec_ring.
  rewrite normsq_scal, inner_scal. change (inner d d) with (normsq d).
  assert (0 <= - a * b * normsq d) by (apply Rmult_le_pos; [nra | apply normsq_nonneg]). lra.
Qed.

(* the sum of the fields' parts u_i *)
Fixpoint part_sum (a : R) (D : table) (x y : V) : V :=
  match D with nil => vzero | g :: D => vadd (vsub (vsub (g x) (g y)) (vscal a (vsub x y))) (part_sum a D x y) end.

Lemma part_sum_cocoercive a b D x y : a <= b -> Forall (curved_between a b) D ->
  normsq (part_sum a D x y) <= INR (length D) * ((b - a) * inner (part_sum a D x y) (vsub x y)).
Proof.
  intros Hab H. induction H as [|g D Hg HD IH].
  - simpl. replace (normsq vzero) with 0; [lra|]. unfold normsq. replace (vzero : V) with (vscal 0 (vzero : V)) at 1 by vec_ring.
    rewrite inner_scal; ring.
  - change (length (g :: D)) with (S (length D)). simpl part_sum. rewrite S_INR.
    set (u := vsub (vsub (g x) (g y)) (vscal a (vsub x y))). set (S := part_sum a D x y) in *. set (k := INR (length D)) in *.
    specialize (Hg x y). simpl in Hg. fold u in Hg. rewrite inner_add, normsq_add.
    assert (K : 0 <= k) by apply pos_INR.
    destruct (Rle_lt_or_eq_dec 0 k K) as [P|E].
    + (* 2<u, S> <= k |u|^2 + |S|^2 / k *)
      generalize (normsq_nonneg (vadd (vscal k u) (vscal (-1) S))). rewrite normsq_combination. intros Y.
      assert (k * (normsq u + 2 * inner u S + normsq S) <= k * ((k + 1) * normsq u) + (k + 1) * normsq S) by nra.
      assert (normsq u + 2 * inner u S + normsq S <= (k + 1) * normsq u + (k + 1) * ((b - a) * inner S (vsub x y))).
      { apply (Rmult_le_reg_l k); auto. apply Rle_trans with (1 := H). nra. }
      nra.
    + assert (S = vzero) as ->.
      { apply normsq_zero_eq. generalize (normsq_nonneg S). rewrite <- E, Rmult_0_l in IH. lra. }
      rewrite <- E. replace (inner u vzero) with 0 by (rewrite inner_sym; replace (vzero : V) with (vscal 0 u) by vec_ring; rewrite inner_scal; ring).
      replace (inner vzero (vsub x y)) with 0 by (replace (vzero : V) with (vscal 0 (vsub x y)) by vec_ring; rewrite inner_scal; ring).
      replace (normsq vzero) with 0 by (unfold normsq; replace (vzero : V) with (vscal 0 (vzero : V)) at 1 by vec_ring; rewrite inner_scal; ring).
      lra.
Qed.

Lemma part_sum_is a D x y :
  part_sum a D x y = vsub (vsub (gradient_sum D x) (gradient_sum D y)) (vscal (INR (length D) * a) (vsub x y)).
Proof.
  induction D as [|g D IH]; [simpl; vec_ring|]. change (length (g :: D)) with (S (length D)). rewrite S_INR. simpl. rewrite IH. vec_ring.
Qed.

(* the mean of fields curved between a and b, plus lambda: between a + lambda and b + lambda *)
Lemma objective_curved a b lambda D : a <= b -> Forall (curved_between a b) D -> (0 < length D)%nat ->
  curved_between (lambda + a) (lambda + b) (objective_gradient lambda (INR (length D)) D).
Proof.
  intros Hab H HD x y. simpl. set (n := INR (length D)).
  assert (n_pos : 0 < n) by (apply lt_0_INR; lia).
  generalize (part_sum_cocoercive a b D x y Hab H). fold n. intros P.
  set (u := vsub (vsub (objective_gradient lambda n D x) (objective_gradient lambda n D y)) (vscal (lambda + a) (vsub x y))).
  assert (E : u = vscal (/ n) (part_sum a D x y)).
  { rewrite part_sum_is. fold n. unfold u, objective_gradient. apply functional_extensionality; intros i.
    unfold vadd, vsub, vscal. field. lra. }
  rewrite E, normsq_scal, inner_scal.
  replace (lambda + b - (lambda + a)) with (b - a) by ring.
  assert (0 < / n) by now apply Rinv_0_lt_compat.
  apply Rle_trans with (/ n * / n * (n * ((b - a) * inner (part_sum a D x y) (vsub x y)))); [apply Rmult_le_compat_l; nra|].
  right. field. lra.
Qed.

(* two tables that differ in one slot, whose gradients differ by at most Delta *)
Inductive neighbours (Delta : R) : table -> table -> Prop :=
  | differ_here g g' D : (forall x, norm (vsub (g x) (g' x)) <= Delta) -> neighbours Delta (g :: D) (g' :: D)
  | differ_later g D D' : neighbours Delta D D' -> neighbours Delta (g :: D) (g :: D').

Lemma neighbours_sum Delta D D' : neighbours Delta D D' -> forall x, norm (vsub (gradient_sum D x) (gradient_sum D' x)) <= Delta.
Proof.
  induction 1 as [g g' D H|g D D' H IH]; intros x; simpl.
  - replace (vsub (vadd (g x) (gradient_sum D x)) (vadd (g' x) (gradient_sum D x))) with (vsub (g x) (g' x)) by vec_ring. apply H.
  - replace (vsub (vadd (g x) (gradient_sum D x)) (vadd (g x) (gradient_sum D' x))) with (vsub (gradient_sum D x) (gradient_sum D' x)) by vec_ring.
    apply IH.
Qed.

(* replace one record of an L-Lipschitz loss: Delta = 2L; erase it, or compare with the null record: L *)
Lemma replace_record L g g' D : (forall x, norm (g x) <= L) -> (forall x, norm (g' x) <= L) -> neighbours (2 * L) (g :: D) (g' :: D).
Proof.
  intros H H'. apply differ_here. intros x. replace (vsub (g x) (g' x)) with (vadd (g x) (vscal (-1) (g' x))) by vec_ring.
  generalize (norm_triangle (g x) (vscal (-1) (g' x))) (H x) (H' x). rewrite norm_scal, Rabs_left by lra. lra.
Qed.

Lemma erase_record L g D : (forall x, norm (g x) <= L) -> neighbours L (g :: D) ((fun _ => vzero) :: D).
Proof. intros H. apply differ_here. intros x. replace (vsub (g x) vzero) with (g x) by vec_ring. apply H. Qed.

Lemma descents_apart eta lambda n Delta D D' x : 0 <= eta -> 0 < n -> neighbours Delta D D' ->
  norm (vsub (descend eta lambda n D x) (descend eta lambda n D' x)) <= eta * Delta / n.
Proof.
  intros He Hn N. assert (0 <= eta * / n) by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  replace (vsub (descend eta lambda n D x) (descend eta lambda n D' x)) with (vscal (eta * / n) (vsub (gradient_sum D' x) (gradient_sum D x)))
    by (unfold descend, objective_gradient; vec_ring).
  rewrite norm_scal_pos, norm_sub_sym by assumption. replace (eta * Delta / n) with (eta * / n * Delta) by (field; lra).
  apply Rmult_le_compat_l; [assumption | now apply neighbours_sum].
Qed.

Section Run.
Variables (eta lambda a b sigma2 Delta : R) (n : nat).
Hypotheses (eta_pos : 0 < eta) (sigma_pos : 0 < sigma2) (n_pos : (0 < n)%nat) (order : a <= b)
  (m_pos : 0 < lambda + a) (step_size : eta * ((lambda + a) + (lambda + b)) <= 2) (contracts : eta * (lambda + a) < 1)
  (Delta_nonneg : 0 <= Delta).

Let m := lambda + a.
Let c := 1 - eta * m.
Let s := eta * Delta / INR n.
Let v := 2 * eta * sigma2.

Definition allowed (D : table) : Prop := length D = n /\ Forall (curved_between a b) D.

(* one noisy step in each world; the record is there while `gap` is s, and gone when it is 0 *)
Definition noisy_step (gap : R) (D D' : table) : @step I :=
  {| factor := c; gap_of := gap; variance := v;
     one := fun x => gauss (descend eta lambda (INR n) D x) (sqrt v);
     two := fun x => gauss (descend eta lambda (INR n) D' x) (sqrt v) |}.

Lemma v_pos : 0 < v.
Proof. unfold v. nra. Qed.

Lemma descend_contracts D x y : allowed D ->
  norm (vsub (descend eta lambda (INR n) D x) (descend eta lambda (INR n) D y)) <= c * norm (vsub x y).
Proof.
  intros [E H]. unfold c, m. apply (step_contracts (lambda + a) (lambda + b)); try lra.
  rewrite <- E. apply objective_curved; auto. lia.
Qed.

Lemma step_with_record M D D' : allowed D -> allowed D' -> neighbours Delta D D' -> valid M (noisy_step s D D').
Proof.
  intros H H' N. split; [exact v_pos|]. simpl.
  generalize (normal_step M c s (sqrt v) (descend eta lambda (INR n) D) (descend eta lambda (INR n) D')).
  rewrite sqrt_sqrt by (generalize v_pos; lra). intros N0.
  assert (0 < INR n) by (apply lt_0_INR; lia).
  apply N0; [apply sqrt_lt_R0, v_pos | unfold c; unfold m; lra |].
  intros x y. apply Rle_trans with (1 := norm_sub_triangle _ (descend eta lambda (INR n) D y) _).
  apply Rplus_le_compat; [now apply descend_contracts|].
  apply descents_apart; auto; lra.
Qed.

Lemma step_without_record M D : allowed D -> valid M (noisy_step 0 D D).
Proof.
  intros H. split; [exact v_pos|]. simpl.
  generalize (normal_step M c 0 (sqrt v) (descend eta lambda (INR n) D) (descend eta lambda (INR n) D)).
  rewrite sqrt_sqrt by (generalize v_pos; lra). intros N0.
  apply N0; [apply sqrt_lt_R0, v_pos | unfold c; unfold m; lra |].
  intros x y. rewrite Rplus_0_r. now apply descend_contracts.
Qed.

(* T steps on neighbouring tables, then K on equal ones; all tables may change from step to step by edits of other records *)
Definition history (before : list (table * table)) (after : list table) : list (@step I) :=
  map (fun p => noisy_step s (fst p) (snd p)) before ++ map (fun D => noisy_step 0 D D) after.

Definition differ (p : table * table) : Prop := allowed (fst p) /\ allowed (snd p) /\ neighbours Delta (fst p) (snd p).

Lemma history_valid M before after : Forall differ before -> Forall allowed after -> Forall (valid M) (history before after).
Proof.
  intros H H'. apply Forall_app. split; apply Forall_map.
  - eapply Forall_impl; [|exact H]. intros p [A [B C]]. now apply step_with_record.
  - eapply Forall_impl; [|exact H']. intros D A. now apply step_without_record.
Qed.

Lemma history_like before after : like c v (history before after) (present_then_absent s (length before) (length after)).
Proof.
  split.
  - unfold history, present_then_absent. rewrite map_app, !map_map. simpl. f_equal; [induction before | induction after]; simpl; congruence.
  - apply Forall_app. split; apply Forall_map, Forall_forall; intros; now simpl.
Qed.

(* mu^2(T, K), whatever the common start is drawn from; M is Gaussian DP or Renyi's of any order *)
Theorem noisy_descent M (rho : Law V) before after : Forall differ before -> Forall allowed after ->
  (0 < length before + length after)%nat ->
  cost M (gdp_squared c s v (length before) (length after))
    (bind rho (run one (history before after))) (bind rho (run two (history before after))).
Proof.
  intros H H' TK. apply noisy_steps_cost_from_one_start; auto using v_pos, history_valid, history_like.
  - unfold c, m; nra.
  - unfold s. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat, lt_0_INR; lia].
Qed.

Corollary noisy_descent_gdp (rho : Law V) before after : Forall differ before -> Forall allowed after ->
  (0 < length before + length after)%nat ->
  gdp (sqrt (gdp_squared c s v (length before) (length after)))
    (bind rho (run one (history before after))) (bind rho (run two (history before after))).
Proof. exact (noisy_descent gaussian rho before after). Qed.

(* solve, then diffuse: both worlds start at solvers' answers at most z apart *)
Theorem solved_then_diffused M before x y z : Forall differ before -> (0 < length before)%nat -> norm (vsub x y) <= z ->
  cost M (gdp_apart_squared c s v z (length before)) (run one (history before []) x) (run two (history before []) y).
Proof.
  intros H HK Hz. unfold gdp_apart_squared.
  set (K := length before).
  replace ((c ^ K * z + s * (1 - c ^ K) / (1 - c)) * (c ^ K * z + s * (1 - c ^ K) / (1 - c)) * (1 - c * c) / (v * (1 - c ^ (2 * K))))
    with (c ^ (2 * 0) * ((c ^ K * z + s * (1 - c ^ K) / (1 - c)) * (c ^ K * z + s * (1 - c ^ K) / (1 - c))) * (1 - c * c)
          / (v * (1 - c ^ (2 * (K + 0))))) by (rewrite Nat.add_0_r; simpl (c ^ (2 * 0)); f_equal; ring).
  apply noisy_steps_cost; auto using v_pos.
  - unfold c, m; nra.
  - unfold s. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat, lt_0_INR; lia].
  - unfold K. lia.
  - apply history_valid; auto.
  - apply history_like.
Qed.

End Run.

(* Composition: every step observed, losses of any shape. A step with the record costs (s / tau)^2, one without it nothing. *)
Section Composition.
Variables (eta lambda sigma2 Delta n : R).
Hypotheses (eta_pos : 0 < eta) (sigma_pos : 0 < sigma2) (n_pos : 0 < n) (Delta_nonneg : 0 <= Delta).

Fixpoint observed_steps (tables : list table) (x : V) : Law (list V) :=
  match tables with
  | nil => ret nil
  | D :: rest => bind (gauss (descend eta lambda n D x) (sqrt (2 * eta * sigma2))) (fun y => bind (observed_steps rest y) (fun path => ret (y :: path)))
  end.

Theorem composed_steps M before after x : Forall (fun p => neighbours Delta (fst p) (snd p)) before ->
  cost M (INR (length before) * ((eta * Delta / n) * (eta * Delta / n) / (2 * eta * sigma2)))
    (observed_steps (map fst before ++ after) x) (observed_steps (map snd before ++ after) x).
Proof.
  intros H. assert (v_pos : 0 < 2 * eta * sigma2) by nra. assert (t_pos : 0 < sqrt (2 * eta * sigma2)) by now apply sqrt_lt_R0.
  assert (S : 0 <= eta * Delta / n) by (apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat]).
  set (one := (eta * Delta / n) * (eta * Delta / n) / (2 * eta * sigma2)).
  assert (O : 0 <= one) by (apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat]).
  revert x. induction H as [|[D D'] before N H IH]; intros x.
  - simpl. rewrite Rmult_0_l. apply cost_same.
  - change (length ((D, D') :: before)) with (Datatypes.S (length before)). rewrite S_INR.
    replace ((INR (length before) + 1) * one) with (one + INR (length before) * one) by ring. simpl.
    apply cost_bind; auto; [apply Rmult_le_pos; auto using pos_INR | |].
    + unfold one. rewrite <- (sqrt_sqrt (2 * eta * sigma2)) at 1 by lra. apply cost_gauss; auto. apply descents_apart; auto; lra.
    + intros y. apply cost_process, IH.
Qed.

End Composition.
End Descent.
