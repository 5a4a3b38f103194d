(* The interface has a model, so its axioms contradict neither each other nor those of the real numbers. It is the trivial
   one, in which all laws are alike: it shows consistency and nothing else. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws.
Open Scope R_scope.

Module Trivial <: LAWS.
Definition Law (A : Type) : Type := inhabited A.
Definition ret {A} (a : A) : Law A := inhabits a.
Definition bind {A B} (P : Law A) (k : A -> Law B) : Law B := match P return inhabited B with inhabits a => k a end.
Definition chance {A} (P : Law A) (f : A -> R) : R := 1 / 2.
Definition gauss {I : coordinates} (m : vec I) (t : R) : Law (vec I) := inhabits m.
Definition gdp {A} (mu : R) (P Q : Law A) : Prop :=
  forall f, (forall a, 0 <= f a <= 1) -> forall t, chance P f <= Phi t -> chance Q f <= Phi (t + mu).
Definition renyi {A} (q e : R) (P Q : Law A) : Prop := 0 <= e.
Definition discrete {I : coordinates} (G : vec I -> Prop) (m : vec I) (t : R) : Law (vec I) := inhabits m.

Lemma one_law A (P Q : Law A) : P = Q.
Proof. exact (Classical_Prop.proof_irrelevance (inhabited A) P Q). Qed.

Lemma bind_ret A B (a : A) (k : A -> Law B) : bind (ret a) k = k a.
Proof. apply one_law. Qed.
Lemma bind_bind A B C (P : Law A) (k : A -> Law B) (l : B -> Law C) : bind (bind P k) l = bind P (fun a => bind (k a) l).
Proof. apply one_law. Qed.
Lemma bind_id A (P : Law A) : bind P ret = P.
Proof. apply one_law. Qed.
Lemma bind_unused A B (P : Law A) (Q : Law B) : bind P (fun _ => Q) = Q.
Proof. apply one_law. Qed.
Lemma chance_range A (P : Law A) f : (forall a, 0 <= f a <= 1) -> 0 <= chance P f <= 1.
Proof. intros _. unfold chance; lra. Qed.
Lemma chance_not A (P : Law A) f : (forall a, 0 <= f a <= 1) -> chance P (fun a => 1 - f a) = 1 - chance P f.
Proof. unfold chance; lra. Qed.
Lemma chance_bind A B (P : Law A) (k : A -> Law B) f : (forall b, 0 <= f b <= 1) -> chance (bind P k) f = chance P (fun a => chance (k a) f).
Proof. reflexivity. Qed.
Lemma gauss_shift (I : coordinates) (m w : vec I) t : bind (gauss m t) (fun y => ret (vadd y w)) = gauss (vadd m w) t.
Proof. apply one_law. Qed.

Lemma gdp_all A mu (P Q : Law A) : 0 <= mu -> gdp mu P Q.
Proof. intros H f _ t Ht. apply Rle_trans with (Phi t); [exact Ht | apply Phi_monotone; lra]. Qed.

Lemma gdp_gauss (I : coordinates) (x y : vec I) a t : 0 < t -> norm (vsub x y) <= a -> gdp (a / t) (gauss x t) (gauss y t).
Proof.
  intros Ht H. apply gdp_all. apply Rmult_le_pos; [generalize (norm_nonneg (vsub x y)); lra | left; now apply Rinv_0_lt_compat].
Qed.
Lemma gdp_compose A B (P Q : Law A) (k l : A -> Law B) mu nu :
  0 <= mu -> 0 <= nu -> gdp mu P Q -> (forall a, gdp nu (k a) (l a)) ->
  gdp (sqrt (mu * mu + nu * nu)) (bind P (fun a => bind (k a) (fun b => ret (a, b))))
                                 (bind Q (fun a => bind (l a) (fun b => ret (a, b)))).
Proof. intros. apply gdp_all, sqrt_pos. Qed.
Lemma renyi_monotone A q e e' (P Q : Law A) : e <= e' -> renyi q e P Q -> renyi q e' P Q.
Proof. unfold renyi. lra. Qed.
Lemma renyi_same A q (P : Law A) : 1 < q -> renyi q 0 P P.
Proof. unfold renyi. lra. Qed.
Lemma renyi_process A B q e (P Q : Law A) (k : A -> Law B) : renyi q e P Q -> renyi q e (bind P k) (bind Q k).
Proof. trivial. Qed.
Lemma cost_nonneg q a t : 1 < q -> 0 < t -> 0 <= q * (a * a) / (2 * (t * t)).
Proof. intros. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; nra]. Qed.
Lemma renyi_gauss (I : coordinates) q (x y : vec I) a t :
  1 < q -> 0 < t -> norm (vsub x y) <= a -> renyi q (q * (a * a) / (2 * (t * t))) (gauss x t) (gauss y t).
Proof. intros. now apply cost_nonneg. Qed.
Lemma renyi_compose A B q (P Q : Law A) (k l : A -> Law B) e e' :
  1 < q -> renyi q e P Q -> (forall a, renyi q e' (k a) (l a)) ->
  renyi q (e + e') (bind P (fun a => bind (k a) (fun b => ret (a, b)))) (bind Q (fun a => bind (l a) (fun b => ret (a, b)))).
Proof. unfold renyi. intros Hq H K. destruct P as [a]. specialize (K a). lra. Qed.
Lemma renyi_tests A q e (P Q : Law A) f r x : 1 < q -> 0 < r -> 0 < x -> renyi q e P Q -> (forall a, 0 <= f a <= 1) ->
  q * Rpower r (q - 1) * chance P f - (q - 1) * Rpower r q * chance Q f
  + (q * Rpower x (q - 1) * (1 - chance P f) - (q - 1) * Rpower x q * (1 - chance Q f)) <= exp ((q - 1) * e).
Proof.
  intros Hq Hr Hx He _. unfold renyi in He. unfold chance.
  assert (T : forall y, 0 < y -> q * Rpower y (q - 1) - (q - 1) * Rpower y q <= 1).
  { intros y Hy. assert (E : Rpower y q = Rpower y (q - 1) * y).
    { transitivity (Rpower y (q - 1 + 1)); [f_equal; ring | rewrite Rpower_plus, Rpower_1 by assumption; reflexivity]. }
    rewrite E.
    generalize (exp_ineq1_le (- ((q - 1) * ln y))) (exp_ineq1_le (ln y)). rewrite exp_ln by assumption. intros A1 A2.
    assert (One : exp (- ((q - 1) * ln y)) * Rpower y (q - 1) = 1).
    { unfold Rpower. rewrite <- exp_plus. replace (- ((q - 1) * ln y) + (q - 1) * ln y) with 0 by ring. apply exp_0. }
    assert (0 < Rpower y (q - 1)) by apply exp_pos.
    assert ((q - (q - 1) * y) * Rpower y (q - 1) <= exp (- ((q - 1) * ln y)) * Rpower y (q - 1)) by (apply Rmult_le_compat_r; nra).
    nra. }
  generalize (T r Hr) (T x Hx) (exp_ineq1_le ((q - 1) * e)). intros. assert (0 <= (q - 1) * e) by nra. lra.
Qed.
Lemma discrete_shift (I : coordinates) (G : vec I -> Prop) (m w : vec I) t : G w ->
  bind (discrete G m t) (fun y => ret (vadd y w)) = discrete G (vadd m w) t.
Proof. intros _. apply one_law. Qed.
Lemma renyi_discrete (I : coordinates) (G : vec I -> Prop) q (x y : vec I) a t :
  1 < q -> 0 < t -> G (vsub x y) -> norm (vsub x y) <= a ->
  renyi q (q * (a * a) / (2 * (t * t))) (discrete G x t) (discrete G y t).
Proof. intros. now apply cost_nonneg. Qed.
End Trivial.
