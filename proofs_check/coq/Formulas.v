(* The formulas of `bounds/` in the package's parameters, step counts as real numbers so that `interval` can evaluate them, and
   why they are those of the theorems. Certificates are checked against these (`python -m proofs_check coq CERTIFICATE`). *)
From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From NoisyGD Require Import Space Normal Laws Shift ClosedForms NoisyGD Theorem51 Rounding.
From NoisyGD Require Sums Tilt.
Open Scope R_scope.

(* c^t *)
Definition power (c t : R) : R := exp (t * ln c).

Lemma power_is c n : 0 < c -> power c (INR n) = c ^ n.
Proof. intros H. unfold power. rewrite <- (Rpower_pow n c H). reflexivity. Qed.

(* --- bounds/shifted_interpolation.py: D sensitivity, eta step size, m strong convexity, s2 noise variance, n records --- *)

Definition limit_gdp (D eta m s2 n : R) : R := D / n * sqrt ((1 - eta * m / 2) / (m * s2)).
Definition shifted_gdp (D eta m s2 n T K : R) : R :=
  limit_gdp D eta m s2 n * power (1 - eta * m) K * (1 - power (1 - eta * m) T) / sqrt (1 - power (1 - eta * m) (2 * (T + K))).
Definition shifted_gdp_forever (D eta m s2 n K : R) : R := limit_gdp D eta m s2 n * power (1 - eta * m) K.
Definition minimiser_gdp (D eta m s2 n K gamma : R) : R :=
  limit_gdp (D + 2 * gamma * n * power (1 - eta * m) K) eta m s2 n / sqrt (1 - power (1 - eta * m) (2 * K)).

(* --- bounds/theorem_5_1.py, `composition_rate`: its root, of T steps with the record --- *)

Definition composition_gdp (D eta s2 n T : R) : R := D / n * sqrt (eta * T / (2 * s2)).

(* --- bounds/theorem_5_1.py, `deletion_rate` --- *)

Definition printed_rate (D lambda s2 n eta T K : R) : R :=
  D * D / (lambda * s2 * (n * n)) * (1 - exp (- (lambda * eta * T) / 2)) * exp (- (lambda * eta * K) / 2).
Definition printed_rate_forever (D lambda s2 n eta K : R) : R := D * D / (lambda * s2 * (n * n)) * exp (- (lambda * eta * K) / 2).

(* --- bounds/exact_steps.py and `gradient_error` of bounds/arithmetic.py --- *)

Definition unit_roundoff : R := / 2 ^ 53.
Definition steeper : R := 16 * unit_roundoff.

Definition gradient_error (L beta outputs features additions lambda W : R) : R :=
  2 * unit_roundoff * (beta * (features + 2) * W + (24 + 4 * outputs + additions) * L + 4 * lambda * W).

Definition rounding_gap (e eta m L lambda W d h : R) : R :=
  let W' := 1001 / 1000 * W in
  let centre := 101 / 100 * (eta * e + unit_roundoff * (3 * eta * (L + lambda * W') + 2 * W')) + h * sqrt d / 2 in
  let point := 101 / 100 * (d + 9) * unit_roundoff * W' in
  (2 * (centre + (1 - eta * m + steeper) * point) + h * sqrt d) * (1 + 1 / 10 ^ 9).

(* mu(T, K) of exact steps is a sum, of the record, of the roundings and of starts apart, with these for m and the variance; tau is
   the noise of a step, h the grid *)
Definition slower (eta m : R) : R := m - steeper / eta.
Definition grid_variance (eta tau h : R) : R := (tau * tau - 144 * (h * h)) / (2 * eta).

(* --- bounds/objective_perturbation.py: r is the curvature of one record (or of a person's rows) over the least of the others --- *)

Definition curvature_ratio (beta m n below : R) : R := beta / (n * m + below).
Definition solution_distance (gamma m h d : R) : R := 2 * gamma / m + h * sqrt d.
Definition tilt_rate (D s zeta tau : R) : R := D * D / (2 * (s * s)) + zeta * zeta / (2 * (tau * tau)).
Definition zero_out_hessian (q r : R) : R := Tilt.cost_without q r / (q - 1).
Definition replace_one_hessian (q r : R) : R := - ln (1 - q * (q - 1) * (r * r) / (1 + r)) / (q - 1).
Definition replace_rows_hessian (q r : R) : R := q * (r * r) / 2 + zero_out_hessian q r.
Definition several_zero_out_hessian (q r : R) : R := Rmax (zero_out_hessian q r) (q * (r * r) / 2).
Definition several_replace_hessian (q r : R) : R := q * (r * r) / 2 + several_zero_out_hessian q r.
Definition weakly_convex_zero_out_hessian (q r below : R) : R :=
  Rmax (Rmax (Tilt.cost_with q r) (Tilt.cost_with q (- below))) (Rmax (Tilt.cost_without q r) (Tilt.cost_without q (- below))) / (q - 1).
Definition opposite_cost (q second first : R) : R := q * ln (1 + second) - (q - 1) * ln (1 + first) - ln (1 + q * second - (q - 1) * first).
Definition weakly_convex_replace_hessian (q r below : R) : R :=
  Rmax (Rmax (Tilt.cost_with q r + Tilt.cost_without q r) (Tilt.cost_with q (- below) + Tilt.cost_without q (- below)))
       (Rmax (opposite_cost q r (- below)) (opposite_cost q (- below) r)) / (q - 1).
Definition flow_constant (kappa : R) : R := 1 + 2 * (ln 2 * (kappa * kappa)) / (1 + sqrt (1 - 8 * (ln 2 * (kappa * kappa)))).
Definition flow_gdp (D L s r blocks : R) : R := D / s * flow_constant (r * s * sqrt blocks / L).
Definition inexact_gdp (zeta tau h : R) : R := zeta / sqrt (tau * tau - 144 * (h * h)).

(* --- bounds/correlated_sums.py: R^2 the squared norm of a row, beta the label's weight --- *)

Definition sums_sensitivity (R2 beta : R) : R := sqrt (R2 * R2 + beta * beta * R2).
Definition sums_sensitivity_between (R2 beta : R) : R := (2 * R2 + beta * beta) / sqrt 2.
Definition sums_sensitivity_heavy (R2 beta : R) : R := 2 * sqrt (beta * beta * R2).
Definition rounding_norm (features outputs beta : R) : R := sqrt (features * features + beta * beta * features * outputs).
Definition sums_gdp (least lost rows cap : R) : R := sqrt (least / (least - lost) * (rows * rows) * cap).

Lemma sums_gdp_shown least lost rows cap most mu : 0 < least - lost -> 0 <= least -> cap <= most -> sums_gdp least lost rows most <= mu ->
  0 <= sums_gdp least lost rows cap <= mu.
Proof.
  intros Hl H0 Hc Hm. split; [apply sqrt_pos|]. apply Rle_trans with (2 := Hm). apply sqrt_le_1_alt.
  apply Rmult_le_compat_l; [|exact Hc]. apply Rmult_le_pos; [|apply Rle_0_sqr]. apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
Qed.

(* --- the formulas are those of the theorems --- *)

Theorem replace_one_hessian_is_proven q r : 1 < q -> 0 <= r -> (q - 1) * r < 1 ->
  (q - 1) * replace_one_hessian q r = Tilt.cost_with q r + Tilt.cost_without q r.
Proof. intros. rewrite Tilt.replace_cost_closed by assumption. unfold replace_one_hessian. field. lra. Qed.

Section Are.
Variables (D eta m s2 n : R) (T K : nat).
Hypotheses (eta_pos : 0 < eta) (m_pos : 0 < m) (s2_pos : 0 < s2) (n_pos : 0 < n) (contracts : eta * m < 1) (some : (0 < T + K)%nat) (D_nonneg : 0 <= D).
Let c := 1 - eta * m.

Lemma limit_is : limit_gdp D eta m s2 n * limit_gdp D eta m s2 n = gdp_limit_squared c (eta * D / n) (2 * eta * s2) 0.
Proof.
  unfold c. rewrite gdp_limit_parameters by assumption. simpl (_ ^ _). unfold limit_gdp.
  assert (P : 0 <= (1 - eta * m / 2) / (m * s2)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]).
  transitivity (D / n * (D / n) * (sqrt ((1 - eta * m / 2) / (m * s2)) * sqrt ((1 - eta * m / 2) / (m * s2)))); [ring|].
  rewrite sqrt_sqrt by assumption. field. repeat split; lra.
Qed.

(* `gdp` squared is the price that `noisy_descent` proves *)
Theorem shifted_gdp_is_proven :
  shifted_gdp D eta m s2 n (INR T) (INR K) * shifted_gdp D eta m s2 n (INR T) (INR K) = gdp_squared c (eta * D / n) (2 * eta * s2) T K.
Proof.
  assert (Hc : 0 < c) by (unfold c; nra). assert (Hc' : 0 <= c < 1) by (unfold c; nra).
  unfold shifted_gdp. fold c. replace (2 * (INR T + INR K)) with (INR (2 * (T + K))) by (rewrite mult_INR, plus_INR; simpl; ring).
  rewrite !power_is by assumption.
  generalize (pow_below_1 c Hc' (2 * (T + K)) ltac:(lia)). intros P.
  assert (S : sqrt (1 - c ^ (2 * (T + K))) * sqrt (1 - c ^ (2 * (T + K))) = 1 - c ^ (2 * (T + K))) by (apply sqrt_sqrt; lra).
  assert (S0 : 0 < sqrt (1 - c ^ (2 * (T + K)))) by (apply sqrt_lt_R0; lra).
  transitivity ((limit_gdp D eta m s2 n * limit_gdp D eta m s2 n) * (c ^ K * c ^ K) * ((1 - c ^ T) * (1 - c ^ T))
    / (sqrt (1 - c ^ (2 * (T + K))) * sqrt (1 - c ^ (2 * (T + K))))); [field; lra|].
  rewrite S, limit_is. unfold gdp_limit_squared, gdp_squared. rewrite (pow_squared c K). simpl (c ^ (2 * 0)).
  field. repeat split; try lra; nra.
Qed.

Theorem shifted_gdp_forever_is_proven :
  shifted_gdp_forever D eta m s2 n (INR K) * shifted_gdp_forever D eta m s2 n (INR K) = gdp_limit_squared c (eta * D / n) (2 * eta * s2) K.
Proof.
  assert (Hc : 0 < c < 1) by (unfold c; nra). unfold shifted_gdp_forever. fold c. rewrite power_is by lra.
  transitivity ((limit_gdp D eta m s2 n * limit_gdp D eta m s2 n) * (c ^ K * c ^ K)); [ring|].
  rewrite limit_is. unfold gdp_limit_squared. rewrite (pow_squared c K). simpl (c ^ (2 * 0)). field. repeat split; lra.
Qed.

(* `deletion_rate` is the printed bound of Theorem 5.1 over q, at D = 2L *)
Theorem printed_rate_is_proven q L : D = 2 * L -> q * printed_rate D m s2 n eta (INR T) (INR K) = printed_bound q L m s2 n eta T K.
Proof. intros ->. unfold printed_rate, printed_bound. field. repeat split; lra. Qed.

End Are.

(* twice `composition_rate` is the price that `composed_steps` proves *)
Theorem composition_gdp_is_proven D eta s2 n T : 0 < eta -> 0 < s2 -> 0 < n ->
  composition_gdp D eta s2 n (INR T) * composition_gdp D eta s2 n (INR T) = INR T * ((eta * D / n) * (eta * D / n) / (2 * eta * s2)).
Proof.
  intros He Hs Hn. unfold composition_gdp.
  assert (P : 0 <= eta * INR T / (2 * s2)) by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply pos_INR] | left; apply Rinv_0_lt_compat; lra]).
  transitivity (D / n * (D / n) * (sqrt (eta * INR T / (2 * s2)) * sqrt (eta * INR T / (2 * s2)))); [ring|].
  rewrite sqrt_sqrt by assumption. field. repeat split; lra.
Qed.

(* `minimiser_dp_gdp` squared is the price that `solved_then_diffused` proves *)
Theorem minimiser_gdp_is_proven D eta m s2 n gamma K :
  0 < eta -> 0 < m -> 0 < s2 -> 0 < n -> eta * m < 1 -> (0 < K)%nat ->
  minimiser_gdp D eta m s2 n (INR K) gamma * minimiser_gdp D eta m s2 n (INR K) gamma
  = gdp_apart_squared (1 - eta * m) (eta * D / n) (2 * eta * s2) (D / (m * n) + 2 * gamma / m) K.
Proof.
  intros He Hm Hs Hn Hc HK. rewrite minimiser_parameters by assumption.
  assert (C : 0 < 1 - eta * m) by nra. assert (C' : 0 <= 1 - eta * m < 1) by nra.
  unfold minimiser_gdp. replace (2 * INR K) with (INR (2 * K)) by (rewrite mult_INR; simpl; ring). rewrite !power_is by assumption.
  set (p := (1 - eta * m) ^ K). generalize (pow_below_1 (1 - eta * m) C' (2 * K) ltac:(lia)). set (r := (1 - eta * m) ^ (2 * K)). intros P.
  assert (S : sqrt (1 - r) * sqrt (1 - r) = 1 - r) by (apply sqrt_sqrt; lra).
  assert (S0 : 0 < sqrt (1 - r)) by (apply sqrt_lt_R0; lra).
  unfold limit_gdp. set (X := D + 2 * gamma * n * p).
  assert (Q : 0 <= (1 - eta * m / 2) / (m * s2)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]).
  transitivity (X / n * (X / n) * (sqrt ((1 - eta * m / 2) / (m * s2)) * sqrt ((1 - eta * m / 2) / (m * s2))) / (sqrt (1 - r) * sqrt (1 - r))); [field; lra|].
  rewrite S, sqrt_sqrt by assumption. field. repeat split; lra.
Qed.

(* The sum of the first two is the figure that `exact_steps_cost` proves. *)
Theorem exact_sum_is_proven D eta m s2 n gap T K :
  0 < eta -> 0 < m -> 0 < s2 -> 0 < n -> eta * m < 1 -> (0 < T + K)%nat -> 0 <= D -> 0 <= gap ->
  shifted_gdp D eta m s2 n (INR T) (INR K) + shifted_gdp (gap * n / eta) eta m s2 n (INR T + INR K) 0
  = sqrt (gdp_squared (1 - eta * m) (eta * D / n) (2 * eta * s2) T K) + sqrt (gdp_squared (1 - eta * m) gap (2 * eta * s2) (T + K) 0).
Proof.
  intros He Hm Hs Hn Hc TK HD Hg.
  assert (Pos : forall D T K, 0 <= D -> 0 <= shifted_gdp D eta m s2 n (INR T) (INR K)).
  { clear - He Hm Hs Hn Hc. intros D T K HD. unfold shifted_gdp, limit_gdp.
    assert (C : 0 < 1 - eta * m) by nra. rewrite !power_is by assumption.
    assert (EM : 0 < eta * m) by (now apply Rmult_lt_0_compat).
    assert ((1 - eta * m) ^ T <= 1) by (apply Rle_trans with (1 ^ T); [apply pow_incr; lra | rewrite pow1; lra]).
    assert (0 <= (1 - eta * m) ^ K) by (apply pow_le; lra).
    assert (0 <= / n) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_pos.
    - apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; auto. apply Rmult_le_pos; [apply Rmult_le_pos; auto | apply sqrt_pos].
    - destruct (Rle_lt_dec (sqrt (1 - power (1 - eta * m) (2 * (INR T + INR K)))) 0) as [L|L].
      + replace (sqrt (1 - power (1 - eta * m) (2 * (INR T + INR K)))) with 0 by (generalize (sqrt_pos (1 - power (1 - eta * m) (2 * (INR T + INR K)))); lra).
        rewrite Rinv_0. lra.
      + left. now apply Rinv_0_lt_compat. }
  f_equal.
  - rewrite <- (shifted_gdp_is_proven D eta m s2 n T K) by assumption. rewrite sqrt_square; auto.
  - replace gap with (eta * (gap * n / eta) / n) at 2 by (field; split; lra).
    replace (INR T + INR K) with (INR (T + K)) by now rewrite plus_INR. replace 0 with (INR 0) at 1 by reflexivity.
    assert (0 <= gap * n / eta) by (apply Rmult_le_pos; [nra | left; now apply Rinv_0_lt_compat]).
    rewrite <- (shifted_gdp_is_proven (gap * n / eta) eta m s2 n (T + K) 0) by (auto; lia). rewrite sqrt_square; auto.
Qed.

(* for certificates *)
Ltac unfold_formulas :=
  unfold shifted_gdp, shifted_gdp_forever, minimiser_gdp, limit_gdp, composition_gdp, printed_rate, printed_rate_forever, rounding_gap, gradient_error,
    grid_variance, slower, steeper, unit_roundoff, power, curvature_ratio, solution_distance, tilt_rate, replace_one_hessian,
    replace_rows_hessian, several_replace_hessian, several_zero_out_hessian, zero_out_hessian, weakly_convex_zero_out_hessian,
    weakly_convex_replace_hessian, opposite_cost, Tilt.cost_with, Tilt.cost_without, flow_gdp, flow_constant, inexact_gdp; cbv zeta.
Ltac split_cases := unfold_formulas; unfold Rmax; repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end.
