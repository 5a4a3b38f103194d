(* The Euclidean space R^I over a finite set of coordinates I. *)
From Coq Require Import Reals Lra List FunctionalExtensionality.
Open Scope R_scope.

Record coordinates := {
  index :> Type;
  all_indices : list index;
  all_complete : forall i, In i all_indices;
  all_distinct : NoDup all_indices }.

Definition vec (I : coordinates) := index I -> R.

Section Space.
Context {I : coordinates}.
Implicit Types x y z : vec I.

Definition vadd x y : vec I := fun i => x i + y i.
Definition vopp x : vec I := fun i => - x i.
Definition vsub x y : vec I := fun i => x i - y i.
Definition vscal (a : R) x : vec I := fun i => a * x i.
Definition vzero : vec I := fun _ => 0.

Fixpoint total {A : Type} (f : A -> R) (l : list A) : R :=
  match l with nil => 0 | i :: l => f i + total f l end.

Definition inner x y := total (fun i => x i * y i) (all_indices I).
Definition normsq x := inner x x.
Definition norm x := sqrt (normsq x).

Lemma total_ext A (f g : A -> R) l : (forall i, f i = g i) -> total f l = total g l.
Proof. intros H; induction l; simpl; [reflexivity | now rewrite H, IHl]. Qed.

Lemma total_plus A (f g : A -> R) l : total (fun i => f i + g i) l = total f l + total g l.
Proof. induction l; simpl; [ring | rewrite IHl; ring]. Qed.

Lemma total_scal A a (f : A -> R) l : total (fun i => a * f i) l = a * total f l.
Proof. induction l; simpl; [ring | rewrite IHl; ring]. Qed.

Lemma total_nonneg A (f : A -> R) l : (forall i, 0 <= f i) -> 0 <= total f l.
Proof. intros H; induction l; simpl; [lra | specialize (H a); lra]. Qed.

Lemma total_zero A (f : A -> R) l : (forall i, 0 <= f i) -> total f l = 0 -> forall i, In i l -> f i = 0.
Proof.
  intros H; induction l as [|a l IH]; simpl; intros E i; [tauto | intros [->|Hi]].
  - generalize (H i) (total_nonneg _ f l H); lra.
  - apply IH; auto. generalize (H a) (total_nonneg _ f l H); lra.
Qed.

Lemma inner_sym x y : inner x y = inner y x.
Proof. apply total_ext; intros; ring. Qed.

Lemma inner_add x y z : inner (vadd x y) z = inner x z + inner y z.
Proof. unfold inner. rewrite <- total_plus. apply total_ext; intros; unfold vadd; ring. Qed.

Lemma inner_scal a x y : inner (vscal a x) y = a * inner x y.
Proof. unfold inner. rewrite <- total_scal. apply total_ext; intros; unfold vscal; ring. Qed.

Lemma sub_as_add x y : vsub x y = vadd x (vscal (-1) y).
Proof. apply functional_extensionality; intros; unfold vsub, vadd, vscal; ring. Qed.

Lemma inner_sub x y z : inner (vsub x y) z = inner x z - inner y z.
Proof. rewrite sub_as_add, inner_add, inner_scal; ring. Qed.

Lemma normsq_nonneg x : 0 <= normsq x.
Proof. apply total_nonneg; intros; nra. Qed.

Lemma normsq_combination a b x y :
  normsq (vadd (vscal a x) (vscal b y)) = a * a * normsq x + 2 * a * b * inner x y + b * b * normsq y.
Proof.
  unfold normsq. rewrite inner_add, !inner_scal, (inner_sym x), (inner_sym y), !inner_add, !inner_scal, (inner_sym y x). ring.
Qed.

Lemma normsq_scal a x : normsq (vscal a x) = a * a * normsq x.
Proof. unfold normsq. rewrite inner_scal, inner_sym, inner_scal. ring. Qed.

Lemma normsq_add x y : normsq (vadd x y) = normsq x + 2 * inner x y + normsq y.
Proof. unfold normsq. rewrite inner_add, (inner_sym x), (inner_sym y), !inner_add, (inner_sym y x). ring. Qed.

Lemma normsq_zero_eq x : normsq x = 0 -> x = vzero.
Proof.
  intros H. apply functional_extensionality; intros i.
  assert (E : x i * x i = 0) by (apply (total_zero _ (fun i => x i * x i) (all_indices I)); auto using all_complete; intros; nra).
  unfold vzero; nra.
Qed.

Lemma cauchy_schwarz_sq x y : inner x y * inner x y <= normsq x * normsq y.
Proof.
  destruct (Req_dec (normsq y) 0) as [E|E].
  - assert (y = vzero) as -> by now apply normsq_zero_eq.
    assert (inner x vzero = 0) as ->.
    { rewrite inner_sym. replace vzero with (vscal 0 x) by (apply functional_extensionality; intros; unfold vscal, vzero; ring).
      rewrite inner_scal; ring. }
    rewrite E; lra.
  - generalize (normsq_nonneg (vadd (vscal (normsq y) x) (vscal (- inner x y) y))) (normsq_nonneg y).
    rewrite normsq_combination. intros H P.
    assert (0 < normsq y) by lra.
    assert (0 <= normsq y * (normsq x * normsq y - inner x y * inner x y)) by lra.
    destruct (Rle_or_lt (inner x y * inner x y) (normsq x * normsq y)); [assumption | nra].
Qed.

Lemma norm_nonneg x : 0 <= norm x.
Proof. apply sqrt_pos. Qed.

Lemma norm_sq x : norm x * norm x = normsq x.
Proof. apply sqrt_sqrt, normsq_nonneg. Qed.

Lemma cauchy_schwarz x y : inner x y <= norm x * norm y.
Proof.
  generalize (cauchy_schwarz_sq x y) (norm_nonneg x) (norm_nonneg y). rewrite <- (norm_sq x), <- (norm_sq y).
  intros. assert (0 <= norm x * norm y) by nra. nra.
Qed.

Lemma norm_triangle x y : norm (vadd x y) <= norm x + norm y.
Proof.
  generalize (cauchy_schwarz x y) (norm_nonneg x) (norm_nonneg y) (norm_nonneg (vadd x y)) (norm_sq (vadd x y)).
  rewrite normsq_add, <- (norm_sq x), <- (norm_sq y). intros. nra.
Qed.

Lemma norm_scal a x : norm (vscal a x) = Rabs a * norm x.
Proof.
  unfold norm. rewrite normsq_scal, sqrt_mult; [ | nra | apply normsq_nonneg].
  now rewrite <- (sqrt_Rsqr_abs a).
Qed.

Lemma norm_scal_pos a x : 0 <= a -> norm (vscal a x) = a * norm x.
Proof. intros; rewrite norm_scal, Rabs_pos_eq; auto. Qed.

Lemma norm_zero : norm vzero = 0.
Proof.
  unfold norm, normsq, inner. replace (total _ _) with 0; [apply sqrt_0|].
  symmetry. induction (all_indices I); simpl; [reflexivity|]. unfold vzero in *. rewrite IHl. ring.
Qed.

Lemma norm_zero_eq x : norm x <= 0 -> x = vzero.
Proof.
  intros H. apply normsq_zero_eq. generalize (norm_nonneg x) (norm_sq x). intros.
  assert (norm x = 0) by lra. rewrite <- norm_sq. rewrite H2. ring.
Qed.

Lemma norm_le_sq x a : 0 <= a -> normsq x <= a * a -> norm x <= a.
Proof. intros. generalize (norm_nonneg x) (norm_sq x). intros. nra. Qed.

Lemma norm_sub_sym x y : norm (vsub x y) = norm (vsub y x).
Proof.
  replace (vsub y x) with (vscal (-1) (vsub x y)) by (apply functional_extensionality; intros; unfold vscal, vsub; ring).
  rewrite norm_scal, Rabs_left; lra.
Qed.

Lemma norm_sub_triangle x y z : norm (vsub x z) <= norm (vsub x y) + norm (vsub y z).
Proof.
  replace (vsub x z) with (vadd (vsub x y) (vsub y z)) by (apply functional_extensionality; intros; unfold vadd, vsub; ring).
  apply norm_triangle.
Qed.

(* A vector of norm at most a + b splits into parts of norms at most a and b. *)
Lemma split_vector u a b : 0 <= a -> 0 <= b -> norm u <= a + b ->
  exists v, norm v <= a /\ norm (vsub u v) <= b.
Proof.
  intros Ha Hb H.
  destruct (Rle_or_lt (norm u) a) as [Hs|Hs].
  - exists u; split; auto. replace (vsub u u) with vzero by (apply functional_extensionality; intros; unfold vsub, vzero; ring).
    now rewrite norm_zero.
  - assert (P : 0 < norm u) by lra. exists (vscal (a / norm u) u). split.
    + rewrite norm_scal_pos by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]). right; field; lra.
    + replace (vsub u (vscal (a / norm u) u)) with (vscal (1 - a / norm u) u)
        by (apply functional_extensionality; intros; unfold vsub, vscal; ring).
      assert (a / norm u <= 1) by (apply (Rmult_le_reg_r (norm u)); [lra | unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra]).
      rewrite norm_scal_pos by lra.
      replace ((1 - a / norm u) * norm u) with (norm u - a) by (field; lra). lra.
Qed.

End Space.

Ltac vec_ring := apply functional_extensionality; intros; unfold vadd, vsub, vscal, vopp, vzero; ring.
