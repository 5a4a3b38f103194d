(* Probability laws as this development needs them: an interface. Its fields are the only axioms besides those of the real
   numbers. Every one is a known theorem, cited where it is stated; kernels and maps are read as measurable. Model.v shows
   that they do not contradict each other. *)
From Coq Require Import Reals Lra FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal.
Open Scope R_scope.

Module Type LAWS.

(* A law, the law of a constant, and a law followed by a kernel (Giry 1982). *)
Parameter Law : Type -> Type.
Parameter ret : forall {A}, A -> Law A.
Parameter bind : forall {A B}, Law A -> (A -> Law B) -> Law B.
Axiom bind_ret : forall A B (a : A) (k : A -> Law B), bind (ret a) k = k a.
Axiom bind_bind : forall A B C (P : Law A) (k : A -> Law B) (l : B -> Law C),
  bind (bind P k) l = bind P (fun a => bind (k a) l).
Axiom bind_id : forall A (P : Law A), bind P ret = P.
(* what is drawn and not used has no effect: a law has mass 1 *)
Axiom bind_unused : forall A B (P : Law A) (Q : Law B), bind P (fun _ => Q) = Q.

(* The probability that a randomised test with values in [0, 1] says yes. *)
Parameter chance : forall {A}, Law A -> (A -> R) -> R.
Axiom chance_range : forall A (P : Law A) f, (forall a, 0 <= f a <= 1) -> 0 <= chance P f <= 1.
Axiom chance_not : forall A (P : Law A) f, (forall a, 0 <= f a <= 1) -> chance P (fun a => 1 - f a) = 1 - chance P f.
(* law of total probability *)
Axiom chance_bind : forall A B (P : Law A) (k : A -> Law B) f, (forall b, 0 <= f b <= 1) ->
  chance (bind P k) f = chance P (fun a => chance (k a) f).

(* N(m, t^2 I) on R^I, t > 0; a shifted normal law is the normal law about the shifted mean. *)
Parameter gauss : forall {I : coordinates}, vec I -> R -> Law (vec I).
Axiom gauss_shift : forall (I : coordinates) (m w : vec I) t,
  bind (gauss m t) (fun y => ret (vadd y w)) = gauss (vadd m w) t.

(* Trade-off functions, by tests: what rejects under P with probability at most Phi(t) rejects under Q with probability at
   most Phi(t + mu). This is T(P, Q) >= G_mu, Dong, Roth & Su 2022, Definition 2.4. *)
Definition gdp {A} (mu : R) (P Q : Law A) : Prop :=
  forall f, (forall a, 0 <= f a <= 1) -> forall t, chance P f <= Phi t -> chance Q f <= Phi (t + mu).

(* Dong, Roth & Su 2022, Theorem 2.7: the Gaussian mechanism (Neyman and Pearson's lemma). *)
Axiom gdp_gauss : forall (I : coordinates) (x y : vec I) a t,
  0 < t -> norm (vsub x y) <= a -> gdp (a / t) (gauss x t) (gauss y t).
(* Dong, Roth & Su 2022, Corollary 3.3: adaptive composition adds squares. *)
Axiom gdp_compose : forall A B (P Q : Law A) (k l : A -> Law B) mu nu,
  0 <= mu -> 0 <= nu -> gdp mu P Q -> (forall a, gdp nu (k a) (l a)) ->
  gdp (sqrt (mu * mu + nu * nu)) (bind P (fun a => bind (k a) (fun b => ret (a, b))))
                                 (bind Q (fun a => bind (l a) (fun b => ret (a, b)))).

(* Renyi divergence of order q > 1: renyi q e P Q stands for R_q(P || Q) <= e, in both directions. *)
Parameter renyi : forall {A}, R -> R -> Law A -> Law A -> Prop.
Axiom renyi_monotone : forall A q e e' (P Q : Law A), e <= e' -> renyi q e P Q -> renyi q e' P Q.
Axiom renyi_same : forall A q (P : Law A), 1 < q -> renyi q 0 P P.
(* van Erven & Harremoes 2014, Theorem 9: data processing *)
Axiom renyi_process : forall A B q e (P Q : Law A) (k : A -> Law B), renyi q e P Q -> renyi q e (bind P k) (bind Q k).
(* Mironov 2017, Proposition 7: two normal laws *)
Axiom renyi_gauss : forall (I : coordinates) q (x y : vec I) a t,
  1 < q -> 0 < t -> norm (vsub x y) <= a -> renyi q (q * (a * a) / (2 * (t * t))) (gauss x t) (gauss y t).
(* Mironov 2017, Proposition 1: adaptive composition *)
Axiom renyi_compose : forall A B q (P Q : Law A) (k l : A -> Law B) e e',
  1 < q -> renyi q e P Q -> (forall a, renyi q e' (k a) (l a)) ->
  renyi q (e + e') (bind P (fun a => bind (k a) (fun b => ret (a, b)))) (bind Q (fun a => bind (l a) (fun b => ret (a, b)))).

(* van Erven & Harremoes 2014, Theorem 9, for the two outcomes of a test, by tangents of y^q at r and at x: of probabilities p and p',
   p^q p'^(1-q) is the largest q r^(q-1) p - (q-1) r^q p'. *)
Axiom renyi_tests : forall A q e (P Q : Law A) f r x, 1 < q -> 0 < r -> 0 < x -> renyi q e P Q -> (forall a, 0 <= f a <= 1) ->
  q * Rpower r (q - 1) * chance P f - (q - 1) * Rpower r q * chance Q f
  + (q * Rpower x (q - 1) * (1 - chance P f) - (q - 1) * Rpower x q * (1 - chance Q f)) <= exp ((q - 1) * e).

(* The exact discrete Gaussian of parameter t about a point of a grid, a subgroup G of R^I. *)
Parameter discrete : forall {I : coordinates}, (vec I -> Prop) -> vec I -> R -> Law (vec I).
Axiom discrete_shift : forall (I : coordinates) (G : vec I -> Prop) (m w : vec I) t, G w ->
  bind (discrete G m t) (fun y => ret (vadd y w)) = discrete G (vadd m w) t.
(* Canonne, Kamath & Steinke 2020, Proposition 5: between points of the grid its Renyi curve is that of the normal law. *)
Axiom renyi_discrete : forall (I : coordinates) (G : vec I -> Prop) q (x y : vec I) a t,
  1 < q -> 0 < t -> G (vsub x y) -> norm (vsub x y) <= a ->
  renyi q (q * (a * a) / (2 * (t * t))) (discrete G x t) (discrete G y t).

End LAWS.

Declare Module Laws : LAWS.
Export Laws.

(* --- Gaussian differential privacy: what follows from its definition --- *)

Lemma gdp_monotone A mu mu' (P Q : Law A) : mu <= mu' -> gdp mu P Q -> gdp mu' P Q.
Proof. intros H G f Hf t Ht. apply Rle_trans with (Phi (t + mu)); [now apply G | apply Phi_monotone; lra]. Qed.

Lemma gdp_same A (P : Law A) : gdp 0 P P.
Proof. intros f _ t Ht. now rewrite Rplus_0_r. Qed.

Theorem gdp_process A B mu (P Q : Law A) (k : A -> Law B) : gdp mu P Q -> gdp mu (bind P k) (bind Q k).
Proof.
  intros G f Hf t. rewrite !chance_bind by exact Hf. apply (G (fun a => chance (k a) f)). intros; now apply chance_range.
Qed.

Theorem gdp_group A mu nu (P Q S : Law A) : gdp mu P Q -> gdp nu Q S -> gdp (mu + nu) P S.
Proof. intros G H f Hf t Ht. rewrite <- Rplus_assoc. apply H; auto. Qed.

Theorem gdp_symmetric A mu (P Q : Law A) : gdp mu P Q -> gdp mu Q P.
Proof.
  intros G f Hf t Ht. destruct (Rle_or_lt (chance P f) (Phi (t + mu))) as [|L]; auto. exfalso.
  assert (N : forall a, 0 <= 1 - f a <= 1) by (intros a; generalize (Hf a); lra).
  assert (L' : chance P (fun a => 1 - f a) < Phi (- (t + mu))) by (rewrite chance_not, Phi_opp by exact Hf; lra).
  destruct (Phi_between _ _ L') as [u [Hu Pu]].
  generalize (G _ N u Pu). rewrite chance_not by exact Hf. intros Q1.
  assert (Phi (u + mu) < Phi (- t)) by (apply Phi_increasing; lra). rewrite Phi_opp in H. lra.
Qed.

(* Dong, Roth & Su 2022, Corollary 2.13, from the definition: mu-GDP is (eps, delta(eps))-differential privacy for every eps. *)
Theorem gdp_epsilon_delta A mu eps (P Q : Law A) f :
  0 < mu -> gdp mu P Q -> (forall a, 0 <= f a <= 1) -> chance Q f <= exp eps * chance P f + delta mu eps.
Proof.
  intros Hmu G Hf. generalize (chance_range _ P f Hf) (chance_range _ Q f Hf); intros HP HQ.
  generalize (exp_pos eps); intros Pe.
  destruct (Req_dec (chance P f) 1) as [E1|N1].
  { rewrite E1.
    destruct (Rle_or_lt 1 (exp eps + delta mu eps)) as [|L]; [lra|]. exfalso.
    (* far to the right the gap is near 1 - e^eps *)
    destruct (Phi_tends 0 (1 - (exp eps + delta mu eps))) as [b [Hb _]]; [lra|].
    generalize (gap_at_most mu eps b Hmu) (Phi_below b) (Phi_increasing b (b + mu) ltac:(lra)).
    unfold gap; intros. assert (exp eps * Phi b <= exp eps) by nra. lra. }
  destruct (Req_dec (chance P f) 0) as [E0|N0].
  { (* then no test of level Phi(t) misses it, whatever t *)
    rewrite E0, Rmult_0_r, Rplus_0_l.
    destruct (Rle_or_lt (chance Q f) (delta mu eps)) as [|L]; auto. exfalso.
    generalize (delta_nonneg mu eps Hmu); intros D.
    destruct (Phi_tends 0 (chance Q f)) as [b [Hb _]]; [lra|].
    assert (chance P f <= Phi (- b - mu)) by (rewrite E0; left; apply Phi_above).
    generalize (G f Hf _ H). replace (- b - mu + mu) with (- b) by ring. rewrite Phi_opp. lra. }
  destruct (Phi_onto (chance P f)) as [t Ht]; [lra|].
  generalize (G f Hf t) (gap_at_most mu eps t Hmu). unfold gap. rewrite Ht. intros. specialize (H ltac:(lra)). lra.
Qed.

(* --- one interface for both measures --- *)

(* `cost s P Q`: s is mu^2 in Gaussian differential privacy, 2e/q in Renyi's. What is proven of costs holds of both. *)
Record measure := {
  cost : forall A, R -> Law A -> Law A -> Prop;
  cost_monotone : forall A s s' (P Q : Law A), 0 <= s -> s <= s' -> cost A s P Q -> cost A s' P Q;
  cost_same : forall A (P : Law A), cost A 0 P P;
  cost_process : forall A B s (P Q : Law A) (k : A -> Law B), cost A s P Q -> cost B s (bind P k) (bind Q k);
  cost_compose : forall A B (P Q : Law A) (k l : A -> Law B) s s', 0 <= s -> 0 <= s' ->
    cost A s P Q -> (forall a, cost B s' (k a) (l a)) ->
    cost (A * B) (s + s') (bind P (fun a => bind (k a) (fun b => ret (a, b)))) (bind Q (fun a => bind (l a) (fun b => ret (a, b)))) ;
  cost_gauss : forall (I : coordinates) (x y : vec I) a t, 0 <= a -> 0 < t -> norm (vsub x y) <= a ->
    cost _ (a * a / (t * t)) (gauss x t) (gauss y t) }.
Arguments cost M {A} s P Q : rename.

Definition gaussian : measure.
Proof.
  refine {| cost := fun A s P Q => gdp (sqrt s) P Q |}.
  - intros A s s' P Q H H'. apply gdp_monotone. apply sqrt_le_1; lra.
  - intros A P. rewrite sqrt_0. apply gdp_same.
  - intros A B s P Q k. apply gdp_process.
  - intros A B P Q k l s s' H H' G K.
    rewrite <- (sqrt_sqrt s), <- (sqrt_sqrt s') by assumption.
    apply gdp_compose; auto using sqrt_pos.
  - intros I x y a t Ha Ht H. replace (sqrt (a * a / (t * t))) with (a / t); [now apply gdp_gauss|].
    symmetry. replace (a * a / (t * t)) with ((a / t) * (a / t)) by (field; lra). apply sqrt_square.
    apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
Defined.

Definition renyi_of_order (q : R) (Hq : 1 < q) : measure.
Proof.
  refine {| cost := fun A s P Q => renyi q (q * s / 2) P Q |}.
  - intros A s s' P Q H H'. apply renyi_monotone. nra.
  - intros A P. replace (q * 0 / 2) with 0 by field. now apply renyi_same.
  - intros A B s P Q k. apply renyi_process.
  - intros A B P Q k l s s' H H' G K. replace (q * (s + s') / 2) with (q * s / 2 + q * s' / 2) by field. now apply renyi_compose.
  - intros I x y a t Ha Ht H. replace (q * (a * a / (t * t)) / 2) with (q * (a * a) / (2 * (t * t))) by (field; lra).
    now apply renyi_gauss.
Defined.

Section Costs.
Context (M : measure).

(* a first draw, then another: the history is dropped *)
Lemma cost_bind A B s s' (P Q : Law A) (k l : A -> Law B) :
  0 <= s -> 0 <= s' -> cost M s P Q -> (forall a, cost M s' (k a) (l a)) -> cost M (s + s') (bind P k) (bind Q l).
Proof.
  intros H H' G K. generalize (cost_process M _ _ _ _ _ (fun ab => ret (snd ab)) (cost_compose M _ _ P Q k l s s' H H' G K)).
  assert (E : forall (P : Law A) (k : A -> Law B),
    bind (bind P (fun a => bind (k a) (fun b => ret (a, b)))) (fun ab => ret (snd ab)) = bind P k).
  { intros. rewrite bind_bind. f_equal. apply functional_extensionality; intros a.
    rewrite bind_bind. rewrite <- (bind_id _ (k0 a)) at 2. f_equal. apply functional_extensionality; intros b. now rewrite bind_ret. }
  now rewrite !E.
Qed.

(* quasi-convexity: a mixture over a common draw costs no more than its parts *)
Lemma cost_mixture A B s (P : Law A) (k l : A -> Law B) :
  0 <= s -> (forall a, cost M s (k a) (l a)) -> cost M s (bind P k) (bind P l).
Proof. intros. rewrite <- (Rplus_0_l s). apply cost_bind; auto; [lra | apply cost_same]. Qed.

(* the same where each world draws its own, unseen *)
Lemma cost_independent_mixtures A A' B s (P : Law A) (P' : Law A') (k : A -> Law B) (l : A' -> Law B) :
  0 <= s -> (forall a a', cost M s (k a) (l a')) -> cost M s (bind P k) (bind P' l).
Proof.
  intros H K. rewrite <- (bind_unused _ _ P' (bind P k)). apply cost_mixture; auto. intros a'.
  rewrite <- (bind_unused _ _ P (l a')). now apply cost_mixture.
Qed.

End Costs.
