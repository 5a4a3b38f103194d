(* Staged training: what is seen is charged the sum over the executions that it rests on, each once, whatever else was run
   (`methods/ladder.py`, T5 of the design). *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws.
Open Scope R_scope.

Section Staged.
Context (M : measure) {W : Type} (nothing : W).

(* Outputs of executions, by number. One that has not been run has no output. *)
Definition outputs := nat -> W.

Definition record_output (h : outputs) (e : nat) (w : W) : outputs := fun k => if Nat.eqb k e then w else h k.

(* the executions from e on, n of them, each a kernel of the outputs before it *)
Fixpoint executions (kernel : nat -> outputs -> Law W) (e n : nat) (h : outputs) : Law outputs :=
  match n with
  | O => ret h
  | S n => bind (kernel e h) (fun w => executions kernel (S e) n (record_output h e w))
  end.

(* those of a set alone *)
Fixpoint ancestors_only (A : nat -> bool) (kernel : nat -> outputs -> Law W) (e n : nat) (h : outputs) : Law outputs :=
  match n with
  | O => ret h
  | S n => if A e then bind (kernel e h) (fun w => ancestors_only A kernel (S e) n (record_output h e w))
           else ancestors_only A kernel (S e) n (record_output h e nothing)
  end.

Variable A : nat -> bool.

Definition agree (h h' : outputs) : Prop := forall k, A k = true -> h k = h' k.

(* what is seen of the outputs: those in A *)
Definition masked (h : outputs) : outputs := fun k => if A k then h k else nothing.

(* an execution in A reads outputs of A alone: A is closed under parents *)
Definition closed (kernel : nat -> outputs -> Law W) : Prop :=
  forall e h h', A e = true -> agree h h' -> kernel e h = kernel e h'.

Lemma agree_record h h' e w : agree h h' -> agree (record_output h e w) (record_output h' e w).
Proof. intros H k Hk. unfold record_output. destruct (Nat.eqb k e); auto. Qed.

Lemma agree_other h h' e w w' : A e = false -> agree h h' -> agree (record_output h e w) (record_output h' e w').
Proof.
  intros Ha H k Hk. unfold record_output. destruct (Nat.eqb k e) eqn:E; auto.
  apply Nat.eqb_eq in E. subst k. congruence.
Qed.

(* Nothing outside the ancestors enters the law of what is seen. *)
Lemma only_ancestors_count kernel : closed kernel -> forall n e h h', agree h h' ->
  bind (executions kernel e n h) (fun o => ret (masked o)) = bind (ancestors_only A kernel e n h') (fun o => ret (masked o)).
Proof.
  intros C. induction n as [|n IH]; intros e h h' H; simpl.
  - rewrite !bind_ret. f_equal. apply functional_extensionality; intros k. unfold masked. destruct (A k) eqn:E; auto.
  - destruct (A e) eqn:E; rewrite !bind_bind.
    + rewrite (C e h h' E H). f_equal. apply functional_extensionality; intros w. apply IH. now apply agree_record.
    + rewrite <- (bind_unused _ _ (kernel e h) (bind (ancestors_only A kernel (S e) n (record_output h' e nothing)) (fun o => ret (masked o)))).
      f_equal. apply functional_extensionality; intros w. apply IH. now apply agree_other.
Qed.

Fixpoint charged (price : nat -> R) (e n : nat) : R :=
  match n with O => 0 | S n => (if A e then price e else 0) + charged price (S e) n end.

Lemma charged_nonneg price : (forall e, 0 <= price e) -> forall n e, 0 <= charged price e n.
Proof. intros H; induction n; intros e; simpl; [lra|]. generalize (H e) (IHn (S e)). destruct (A e); lra. Qed.

Variables (one two : nat -> outputs -> Law W) (price : nat -> R).
Hypothesis price_nonneg : forall e, 0 <= price e.
(* for every value of its parents *)
Hypothesis price_of_one : forall e h, cost M (price e) (one e h) (two e h).

Lemma ancestors_cost n e h : cost M (charged price e n) (ancestors_only A one e n h) (ancestors_only A two e n h).
Proof.
  revert e h; induction n as [|n IH]; intros e h; simpl; [apply cost_same|].
  destruct (A e) eqn:E; [|rewrite Rplus_0_l; apply IH].
  apply cost_bind; auto. now apply charged_nonneg.
Qed.

(* Requests, levels, retries and restarts that depend on outputs are executions of price 0; what their makers saw is then part
   of A. The schedule, the number n of executions and the prices are fixed beforehand. *)
Theorem staged_training n h : closed one -> closed two ->
  cost M (charged price 0 n) (bind (executions one 0 n h) (fun o => ret (masked o)))
                             (bind (executions two 0 n h) (fun o => ret (masked o))).
Proof.
  intros C C'. rewrite (only_ancestors_count one C n 0 h h), (only_ancestors_count two C' n 0 h h) by (intros k _; reflexivity).
  apply cost_process, ancestors_cost.
Qed.

End Staged.
