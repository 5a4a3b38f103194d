(* The interface has a model, so its axioms contradict neither each other nor those of the real numbers. It is the trivial
   one, in which all laws are alike: it shows consistency and nothing else. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws.
Open Scope R_scope.

Module Trivial <: LAWS.
Definition Law (A : Type) : Type := unit.
Definition ret {A} (a : A) : Law A := tt.
Definition bind {A B} (P : Law A) (k : A -> Law B) : Law B := tt.
Definition chance {A} (P : Law A) (f : A -> R) : R := 1 / 2.
Definition gauss {I : coordinates} (m : vec I) (t : R) : Law (vec I) := tt.
Definition gdp {A} (mu : R) (P Q : Law A) : Prop :=
  forall f, (forall a, 0 <= f a <= 1) -> forall t, chance P f <= Phi t -> chance Q f <= Phi (t + mu).
Definition renyi {A} (q e : R) (P Q : Law A) : Prop := True.
Definition discrete {I : coordinates} (G : vec I -> Prop) (m : vec I) (t : R) : Law (vec I) := tt.

Lemma one_law A (P Q : Law A) : P = Q.
Proof. now destruct P, Q. Qed.

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
Proof. reflexivity. Qed.

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
Proof. trivial. Qed.
Lemma renyi_same A q (P : Law A) : 1 < q -> renyi q 0 P P.
Proof. easy. Qed.
Lemma renyi_process A B q e (P Q : Law A) (k : A -> Law B) : renyi q e P Q -> renyi q e (bind P k) (bind Q k).
Proof. trivial. Qed.
Lemma renyi_gauss (I : coordinates) q (x y : vec I) a t :
  1 < q -> 0 < t -> norm (vsub x y) <= a -> renyi q (q * (a * a) / (2 * (t * t))) (gauss x t) (gauss y t).
Proof. easy. Qed.
Lemma renyi_compose A B q (P Q : Law A) (k l : A -> Law B) e e' :
  1 < q -> renyi q e P Q -> (forall a, renyi q e' (k a) (l a)) ->
  renyi q (e + e') (bind P (fun a => bind (k a) (fun b => ret (a, b)))) (bind Q (fun a => bind (l a) (fun b => ret (a, b)))).
Proof. easy. Qed.
Lemma discrete_shift (I : coordinates) (G : vec I -> Prop) (m w : vec I) t : G w ->
  bind (discrete G m t) (fun y => ret (vadd y w)) = discrete G (vadd m w) t.
Proof. easy. Qed.
Lemma renyi_discrete (I : coordinates) (G : vec I -> Prop) q (x y : vec I) a t :
  1 < q -> 0 < t -> G (vsub x y) -> norm (vsub x y) <= a ->
  renyi q (q * (a * a) / (2 * (t * t))) (discrete G x t) (discrete G y t).
Proof. easy. Qed.
End Trivial.
