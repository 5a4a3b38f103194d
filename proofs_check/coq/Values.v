(* Values of formulas in exact rational arithmetic: a formula is an expression that is evaluated in rationals, and proven to be
   that of a theorem over the reals. `python -m proofs_check.coq_values` writes a table of what the package computes, for these to check. *)
From Coq Require Import Reals Lra Lia List QArith Qreals Qabs.
From NoisyGD Require Import ClosedForms Theorem51.
Import ListNotations.
Open Scope R_scope.

Inductive expr :=
  | Num (z : Z) | Var (i : nat) | Add (a b : expr) | Sub (a b : expr) | Mul (a b : expr) | Div (a b : expr)
  | Pow (a : expr) (k : nat). (* to the k-th of the row's whole numbers *)

Fixpoint real (e : expr) (v : list R) (w : list nat) : R :=
  match e with
  | Num z => IZR z | Var i => nth i v 0
  | Add a b => real a v w + real b v w | Sub a b => real a v w - real b v w
  | Mul a b => real a v w * real b v w | Div a b => real a v w / real b v w
  | Pow a k => real a v w ^ nth k w O
  end.

Definition both (f : Q -> Q -> Q) (a b : option Q) : option Q :=
  match a, b with Some a, Some b => Some (Qred (f a b)) | _, _ => None end.

Fixpoint power (q : Q) (n : nat) : Q := match n with O => 1%Q | S n => Qred (q * power q n) end.

Fixpoint rational (e : expr) (v : list Q) (w : list nat) : option Q :=
  match e with
  | Num z => Some (inject_Z z) | Var i => Some (nth i v 0%Q)
  | Add a b => both Qplus (rational a v w) (rational b v w) | Sub a b => both Qminus (rational a v w) (rational b v w)
  | Mul a b => both Qmult (rational a v w) (rational b v w)
  | Div a b => match rational b v w with
               | Some q => if Qeq_bool q 0 then None else both Qdiv (rational a v w) (Some q)
               | None => None end
  | Pow a k => option_map (fun q => power q (nth k w O)) (rational a v w)
  end.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma Q2R_power q n : Q2R (power q n) = Q2R q ^ n.
Proof. induction n as [|n IH]; cbn [power pow]; [unfold Q2R; simpl; field | rewrite Q2R_red, Q2R_mult, IH; reflexivity]. Qed.

Lemma Q2R_nth v i : nth i (map Q2R v) 0 = Q2R (nth i v 0%Q).
Proof.
  assert (Z : Q2R 0%Q = 0) by (unfold Q2R; simpl; field). rewrite <- Z. apply map_nth.
Qed.

Arguments Qred : simpl never.

Theorem evaluates_rightly e v w : forall q, rational e v w = Some q -> real e (map Q2R v) w = Q2R q.
Proof.
  induction e as [z|i|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IHa k]; simpl; intros q H.
  - injection H as <-. unfold Q2R. simpl. field.
  - injection H as <-. apply Q2R_nth.
  - destruct (rational a v w) as [x|], (rational b v w) as [y|]; try discriminate. injection H as <-.
    rewrite (IHa x), (IHb y), Q2R_red, Q2R_plus by reflexivity. reflexivity.
  - destruct (rational a v w) as [x|], (rational b v w) as [y|]; try discriminate. injection H as <-.
    rewrite (IHa x), (IHb y), Q2R_red, Q2R_minus by reflexivity. reflexivity.
  - destruct (rational a v w) as [x|], (rational b v w) as [y|]; try discriminate. injection H as <-.
    rewrite (IHa x), (IHb y), Q2R_red, Q2R_mult by reflexivity. reflexivity.
  - destruct (rational b v w) as [y|]; try discriminate. destruct (Qeq_bool y 0) eqn:E; try discriminate.
    destruct (rational a v w) as [x|]; try discriminate. injection H as <-.
    rewrite (IHa x), (IHb y), Q2R_red, Q2R_div by (reflexivity || (intros Z; apply Qeq_bool_iff in Z; congruence)). reflexivity.
  - destruct (rational a v w) as [x|]; try discriminate. injection H as <-. rewrite (IHa x), Q2R_power by reflexivity. reflexivity.
Qed.

(* within 2^-40 of the formula's value, relative *)
Definition near (f q : Q) : bool := Qle_bool (Qabs (f - q) * inject_Z 1099511627776) (Qabs q).
Definition value_is (e : expr) (v : list Q) (w : list nat) (f : Q) : bool :=
  match rational e v w with Some q => near f q | None => false end.

Theorem value_is_near e v w f : value_is e v w f = true ->
  Rabs (Q2R f - real e (map Q2R v) w) * 1099511627776 <= Rabs (real e (map Q2R v) w).
Proof.
  unfold value_is. destruct (rational e v w) as [q|] eqn:E; [|discriminate]. unfold near. intros H.
  rewrite (evaluates_rightly e v w q E). apply Qle_bool_iff, Qle_Rle in H. rewrite Q2R_mult in H.
  assert (A : forall x, Q2R (Qabs x) = Rabs (Q2R x)).
  { assert (Z : Q2R 0%Q = 0) by (unfold Q2R; simpl; field).
    intros x. apply Qabs_case; intros L; apply Qle_Rle in L; rewrite Z in L.
    - symmetry. now apply Rabs_pos_eq.
    - rewrite Q2R_opp, Rabs_left1; auto. }
  rewrite !A, Q2R_minus in H. assert (E40 : Q2R (inject_Z 1099511627776) = 1099511627776) by (unfold Q2R; simpl; field).
  rewrite E40 in H. exact H.
Qed.

(* --- the formulas, each that of a theorem --- *)

Definition one := Num 1. Definition two := Num 2.
Definition square e := Mul e e.
Section Gdp. (* variables D, eta, m, s2, n; whole numbers T, K *)
Let D := Var 0. Let eta := Var 1. Let m := Var 2. Let s2 := Var 3. Let n := Var 4.
Let c := Sub one (Mul eta m).
Let s := Div (Mul eta D) n.
Let v := Mul (Mul two eta) s2.
Definition e_gdp := Div (Mul (Mul (Mul (Div (square s) v) (square (Pow c 1))) (square (Sub one (Pow c 0)))) (Sub one (square c)))
  (Mul (square (Sub one c)) (Sub one (Mul (square (Pow c 0)) (square (Pow c 1))))).
Definition e_limit := Div (Mul (Mul (Div (square s) v) (square (Pow c 1))) (Add one c)) (Sub one c).
End Gdp.

Lemma pow_double c k : c ^ (2 * k) = c ^ k * c ^ k.
Proof. replace (2 * k)%nat with (k + k)%nat by lia. apply pow_add. Qed.

Theorem e_gdp_is D eta m s2 n T K :
  real e_gdp [D; eta; m; s2; n] [T; K] = gdp_squared (1 - eta * m) (eta * D / n) (2 * eta * s2) T K.
Proof.
  unfold gdp_squared. rewrite !pow_double, pow_add.
  replace ((1 - eta * m) ^ T * (1 - eta * m) ^ K * ((1 - eta * m) ^ T * (1 - eta * m) ^ K))
    with ((1 - eta * m) ^ T * (1 - eta * m) ^ T * ((1 - eta * m) ^ K * (1 - eta * m) ^ K)) by ring.
  reflexivity.
Qed.

Theorem e_limit_is D eta m s2 n T K :
  real e_limit [D; eta; m; s2; n] [T; K] = gdp_limit_squared (1 - eta * m) (eta * D / n) (2 * eta * s2) K.
Proof. unfold gdp_limit_squared. rewrite pow_double. reflexivity. Qed.

(* variables D, eta, m, s2, n, gamma; whole number K *)
Definition e_apart :=
  let eta := Var 1 in let c := Sub one (Mul eta (Var 2)) in let s := Div (Mul eta (Var 0)) (Var 4) in
  let z := Add (Div (Var 0) (Mul (Var 2) (Var 4))) (Div (Mul two (Var 5)) (Var 2)) in
  let A := Add (Mul (Pow c 0) z) (Div (Mul s (Sub one (Pow c 0))) (Sub one c)) in
  Div (Mul (square A) (Sub one (square c))) (Mul (Mul (Mul two eta) (Var 3)) (Sub one (square (Pow c 0)))).

Theorem e_apart_is D eta m s2 n gamma K : real e_apart [D; eta; m; s2; n; gamma] [K] =
  gdp_apart_squared (1 - eta * m) (eta * D / n) (2 * eta * s2) (D / (m * n) + 2 * gamma / m) K.
Proof. unfold gdp_apart_squared. rewrite pow_double. reflexivity. Qed.

(* variables mu, D, eta, m, n *)
Definition e_noise := Div (Mul (square (Var 1)) (Sub one (Div (Mul (Var 2) (Var 3)) two))) (Mul (Mul (Var 3) (square (Var 0))) (square (Var 4))).
Theorem e_noise_is mu D eta m n : real e_noise [mu; D; eta; m; n] [] = D * D * (1 - eta * m / 2) / (m * (mu * mu) * (n * n)).
Proof. reflexivity. Qed.

(* variables q, eps, L, lambda, n *)
Definition e_printed_noise := Div (Mul (Mul (Num 4) (Var 0)) (square (Var 2))) (Mul (Mul (Var 3) (Var 1)) (square (Var 4))).
Theorem e_printed_noise_is q eps L lambda n : real e_printed_noise [q; eps; L; lambda; n] [] = printed_noise q eps L lambda n.
Proof. reflexivity. Qed.

(* variables lambda, beta *)
Definition e_condition := Div (Add (Var 0) (Var 1)) (Var 0).
Theorem e_condition_is lambda beta : real e_condition [lambda; beta] [] = condition_number lambda beta.
Proof. reflexivity. Qed.
Definition e_step := Div one (Mul two (Add (Var 0) (Var 1))).
Theorem e_step_is lambda beta : real e_step [lambda; beta] [] = printed_step_size lambda beta.
Proof. unfold e_step, printed_step_size. simpl. unfold Rdiv. ring. Qed.

(* variables c <= 1, variance, Delta, rows that stay, join, leave: ((1 - c) stay + join + c leave)^2 Delta^2 / variance *)
Definition e_charge := Div (square (Mul (Add (Add (Mul (Sub one (Var 0)) (Var 3)) (Var 4)) (Mul (Var 0) (Var 5))) (Var 2))) (Var 1).
