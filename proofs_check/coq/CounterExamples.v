(* Statements of Chourasia & Shah 2023 that fail, each by an example in exact arithmetic. The sentence on batches after Theorem
   5.1 is in Theorem51.v. *)
From Coq Require Import Reals Lra Lia List QArith Qreals.
From NoisyGD Require Import Space.
Import ListNotations.
Open Scope R_scope.

(* --- Lemma F.3: clipping the gradient of a convex loss leaves a monotone field, the gradient of a convex loss --- *)

Definition field2 := R * R -> R * R.
Definition inner2 (a b : R * R) : R := fst a * fst b + snd a * snd b.
Definition sub2 (a b : R * R) : R * R := (fst a - fst b, snd a - snd b).
Definition monotone (g : field2) : Prop := forall a b, 0 <= inner2 (sub2 (g a) (g b)) (sub2 a b).

Definition clip (L : R) (v : R * R) : R * R :=
  let n := sqrt (fst v * fst v + snd v * snd v) in
  if Rle_dec n L then v else (L / n * fst v, L / n * snd v).

(* the gradient of f(x, y) = (x^2 + h y^2) / 2 *)
Definition quadratic (h : R) : field2 := fun a => (fst a, h * snd a).

Lemma quadratic_is_convex h : 0 <= h -> monotone (quadratic h).
Proof.
  intros H a b. unfold inner2, sub2, quadratic; simpl.
  generalize (Rle_0_sqr (fst a - fst b)) (Rmult_le_pos h _ H (Rle_0_sqr (snd a - snd b))). unfold Rsqr. lra.
Qed.

Theorem lemma_F_3_fails : monotone (quadratic 4) /\ ~ monotone (fun a => clip 1 (quadratic 4 a)).
Proof.
  split; [apply quadratic_is_convex; lra|]. intros H.
  specialize (H (1, 0) (4, 3 / 4)). unfold inner2, sub2, quadratic, clip in H. simpl in H.
  replace (1 * 1 + 4 * 0 * (4 * 0)) with (1 * 1) in H by ring.
  replace (4 * 4 + 4 * (3 / 4) * (4 * (3 / 4))) with (5 * 5) in H by field.
  rewrite !sqrt_square in H by lra.
  destruct (Rle_dec 1 1) as [_|N]; [|lra]. destruct (Rle_dec 5 1) as [N|_]; [lra|]. simpl in H. lra.
Qed.

(* with one curvature in every direction it holds on the same pair *)
Lemma one_curvature_on_the_pair : 0 <= inner2 (sub2 (clip 1 (quadratic 1 (1, 0))) (clip 1 (quadratic 1 (4, 3)))) (sub2 (1, 0) (4, 3)).
Proof.
  unfold inner2, sub2, quadratic, clip. simpl.
  replace (1 * 1 + 1 * 0 * (1 * 0)) with (1 * 1) by ring. replace (4 * 4 + 1 * 3 * (1 * 3)) with (5 * 5) by ring.
  rewrite !sqrt_square by lra. destruct (Rle_dec 1 1); [|lra]. destruct (Rle_dec 5 1); simpl; lra.
Qed.

Open Scope Q_scope.

(* --- Theorem 4.3 as stated: (q, eps_dd) under fixed requests and (q, eps_dp)-privacy imply adaptive requests, for any pair --- *)

(* Records are bits, nine of them. The learner publishes a pad, a fair bit. The unlearner publishes (pad xor the erased bit) and
   how many of the other eight, each through randomised response that keeps a bit with probability 3/5, read 1. *)
Definition keep : Q := 3 # 5.
Definition reads_one (bit : bool) : Q := if bit then keep else 1 - keep.

(* the law of the number of ones among randomised responses of these bits *)
Fixpoint ones (bits : list bool) (j : nat) : Q :=
  match bits with
  | nil => match j with O => 1 | S _ => 0 end
  | b :: bits => Qred ((1 - reads_one b) * ones bits j + match j with O => 0 | S i => reads_one b * ones bits i end)
  end.

(* the law of what is published, after a requester who saw the pad has written `write pad` into the other eight records *)
Definition published (erased : bool) (write : bool -> bool) (first : bool) (j : nat) : Q :=
  let pad := xorb first erased in (1 # 2) * ones (repeat (write pad) 8) j.

(* every law of the count, to be sums over j = 0, ..., 8 *)
Definition counts : list nat := seq 0 9.
Definition sumQ (f : nat -> Q) : Q := fold_right (fun j s => f j + s)%Q 0 counts.

(* Fixed requests: the erased bit leaves no trace at all, eps_dd = 0. *)
Theorem fixed_requests_reveal_nothing w first j : published true (fun _ => w) first j = published false (fun _ => w) first j.
Proof. reflexivity. Qed.

(* The way in which a kept record enters is one randomised response: e^{R_2} of its two laws is 7/6, whichever comes first. *)
Definition exp_renyi_2 (p r : Q) : Q := p * p / r + (1 - p) * (1 - p) / (1 - r).
Theorem randomised_response_privacy :
  (exp_renyi_2 (reads_one true) (reads_one false) == 7 # 6)%Q /\ (exp_renyi_2 (reads_one false) (reads_one true) == 7 # 6)%Q.
Proof. split; reflexivity. Qed.

(* The requester writes the pad itself: numbers below the root of P_0^2 + P_1^2 *)
Definition below (j : nat) : Q :=
  nth j [21 # 2500; 449 # 10000; 213 # 2000; 381 # 2500; 821 # 5000; 381 # 2500; 213 # 2000; 449 # 10000; 21 # 2500] 0.

Definition law (erased first : bool) (j : nat) : Q := published erased (fun pad => pad) first j.

Lemma laws_sum_to_one : forallb (fun e => Qeq_bool (sumQ (law e true) + sumQ (law e false)) 1) [true; false] = true.
Proof. vm_compute. reflexivity. Qed.

Lemma below_is_below : forallb (fun j => forallb (fun b =>
  Qle_bool (below j * below j) (law true b j * law true b j + law false b j * law false b j)) [true; false]) counts = true.
Proof. vm_compute. reflexivity. Qed.

Lemma below_total : (Qle_bool (7 # 3) (2 * sumQ below * (2 * sumQ below)) && negb (Qle_bool (2 * sumQ below * (2 * sumQ below)) (7 # 3)))%bool = true.
Proof. vm_compute. reflexivity. Qed.

Definition cells : list (bool * nat) := map (pair true) counts ++ map (pair false) counts.

Close Scope Q_scope.

Lemma total_below_gt : Q2R (7 # 3) < total (fun k : bool * nat => Q2R (below (snd k))) cells * total (fun k : bool * nat => Q2R (below (snd k))) cells.
Proof.
  assert (E : total (fun k : bool * nat => Q2R (below (snd k))) cells = Q2R (2 * sumQ below)).
  { assert (K : forall l, total (fun k : bool * nat => Q2R (below (snd k))) l = Q2R (fold_right (fun k s => below (snd k) + s)%Q 0%Q l)).
    { induction l as [|k l IH]; simpl; [unfold Q2R; simpl; field | rewrite IH, Q2R_plus; reflexivity]. }
    rewrite K. apply Qeq_eqR, Qeq_bool_eq. vm_compute. reflexivity. }
  rewrite E, <- Q2R_mult. apply Qlt_Rlt. generalize below_total. rewrite Bool.andb_true_iff, Bool.negb_true_iff. intros [_ N].
  destruct (Qlt_le_dec (7 # 3) (2 * sumQ below * (2 * sumQ below))) as [|L]; auto. apply Qle_bool_iff in L. congruence.
Qed.

Lemma total_le A (f g : A -> R) l : (forall k, In k l -> f k <= g k) -> total f l <= total g l.
Proof. induction l as [|k l IH]; intros H; simpl; [lra|]. generalize (H k (or_introl eq_refl)) (IH (fun i Hi => H i (or_intror Hi))). lra. Qed.

Lemma cells_are k : In k cells -> In (snd k) counts.
Proof. unfold cells. rewrite in_app_iff, !in_map_iff. intros [[j [<- H]]|[j [<- H]]]; exact H. Qed.

(* Yet for every law pi of a reference that never saw the record, one of the two worlds lies further than eps_dp from it at
   order q = 2: Theorem 4.3 claims that some pi has both within log(7/6). *)
Theorem theorem_4_3_fails (pi : bool * nat -> R) : (forall k, 0 < pi k) -> total pi cells = 1 ->
  exists erased, Q2R (7 # 6) < total (fun k => Q2R (law erased (fst k) (snd k)) * Q2R (law erased (fst k) (snd k)) / pi k) cells.
Proof.
  intros Hpi H1.
  set (cost := fun e => total (fun k => Q2R (law e (fst k) (snd k)) * Q2R (law e (fst k) (snd k)) / pi k) cells).
  destruct (Rlt_or_le (Q2R (7 # 6)) (cost true)) as [|T]; [now exists true|].
  destruct (Rlt_or_le (Q2R (7 # 6)) (cost false)) as [|F]; [now exists false|]. exfalso.
  set (t := total (fun k : bool * nat => Q2R (below (snd k))) cells).
  assert (K : t * t <= cost true + cost false).
  { unfold cost. rewrite <- total_plus.
    apply Rle_trans with (total (fun k : bool * nat => 2 * t * Q2R (below (snd k)) + - (t * t) * pi k) cells).
    - rewrite total_plus, !total_scal, H1. fold t. lra.
    - apply total_le. intros k Hk. set (r := Q2R (below (snd k))). specialize (Hpi k).
      assert (B : r * r <= Q2R (law true (fst k) (snd k)) * Q2R (law true (fst k) (snd k)) + Q2R (law false (fst k) (snd k)) * Q2R (law false (fst k) (snd k))).
      { unfold r. rewrite <- !Q2R_mult, <- Q2R_plus. apply Qle_Rle, Qle_bool_iff.
        generalize below_is_below. rewrite forallb_forall. intros X. specialize (X _ (cells_are k Hk)).
        rewrite forallb_forall in X. apply X. destruct (fst k); simpl; auto. }
      apply (Rmult_le_reg_r (pi k)); auto.
      replace ((Q2R (law true (fst k) (snd k)) * Q2R (law true (fst k) (snd k)) / pi k + Q2R (law false (fst k) (snd k)) * Q2R (law false (fst k) (snd k)) / pi k) * pi k)
        with (Q2R (law true (fst k) (snd k)) * Q2R (law true (fst k) (snd k)) + Q2R (law false (fst k) (snd k)) * Q2R (law false (fst k) (snd k))) by (field; lra).
      apply Rle_trans with (2 := B). generalize (Rle_0_sqr (r - t * pi k)). unfold Rsqr. nra. }
  generalize total_below_gt. fold t. replace (Q2R (7 # 3)) with (Q2R (7 # 6) + Q2R (7 # 6)) by (unfold Q2R; simpl; field). lra.
Qed.
