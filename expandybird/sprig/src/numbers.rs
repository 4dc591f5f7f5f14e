//! Arithmetic, rounding, and lists of numbers.

use bigdecimal::{BigDecimal, RoundingMode, ToPrimitive as _, Zero as _};
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, List, Type, Value};

use crate::convert::{printed, to_float64, to_int64};

/// Functions of integers. They wrap around where a number overflows.
pub const INTEGERS: &[Function] = &[
    Function::new("int", &[Type::Any], |call| {
        Ok(Value::int(to_int64(call.argument(0)?)))
    }),
    Function::new("int64", &[Type::Any], |call| {
        int64(to_int64(call.argument(0)?))
    }),
    Function::new("atoi", &[Type::String], |call| {
        let text = call.string(0)?.to_str();
        Ok(Value::int(text.parse().unwrap_or(0)))
    }),
    Function::new("toDecimal", &[Type::Any], |call| {
        let value = call.argument(0)?;
        let text = printed(call.budget(), value)?;
        int64(i64::from_str_radix(&text.to_str(), 8).unwrap_or(0))
    }),
    Function::new("add1", &[Type::Any], |call| {
        int64(to_int64(call.argument(0)?).wrapping_add(1))
    }),
    Function::variadic("add", &[], Type::Any, |call| {
        int64(call.rest().iter().map(to_int64).fold(0, i64::wrapping_add))
    }),
    Function::new("sub", &[Type::Any, Type::Any], |call| {
        let (left, right) = pair(call)?;
        int64(left.wrapping_sub(right))
    }),
    Function::new("div", &[Type::Any, Type::Any], |call| {
        let (left, right) = divided(call)?;
        int64(left.wrapping_div(right))
    }),
    Function::new("mod", &[Type::Any, Type::Any], |call| {
        let (left, right) = divided(call)?;
        int64(left.wrapping_rem(right))
    }),
    Function::variadic("mul", &[Type::Any], Type::Any, |call| {
        fold_integers(call, i64::wrapping_mul)
    }),
    Function::variadic("max", &[Type::Any], Type::Any, |call| {
        fold_integers(call, i64::max)
    }),
    Function::variadic("biggest", &[Type::Any], Type::Any, |call| {
        fold_integers(call, i64::max)
    }),
    Function::variadic("min", &[Type::Any], Type::Any, |call| {
        fold_integers(call, i64::min)
    }),
    Function::new("until", &[Type::INT], |call| {
        let count = call.int(0)?;
        list_of_ints(
            call,
            Steps {
                start: 0,
                stop: count,
                step: if count < 0 { -1 } else { 1 },
            },
        )
    }),
    Function::new("untilStep", &[Type::INT, Type::INT, Type::INT], |call| {
        let (start, stop, step) = (call.int(0)?, call.int(1)?, call.int(2)?);
        list_of_ints(call, Steps { start, stop, step })
    }),
    Function::variadic("seq", &[], Type::INT, seq),
];

/// Functions of floats.
pub const FLOATS: &[Function] = &[
    Function::new("float64", &[Type::Any], |call| {
        Ok(to_float64(call.argument(0)?).into())
    }),
    Function::new("floor", &[Type::Any], |call| {
        Ok(to_float64(call.argument(0)?).floor().into())
    }),
    Function::new("ceil", &[Type::Any], |call| {
        Ok(to_float64(call.argument(0)?).ceil().into())
    }),
    Function::variadic("round", &[Type::Any, Type::INT], Type::Float, round),
    Function::variadic("maxf", &[Type::Any], Type::Any, |call| {
        fold_floats(call, greater)
    }),
    Function::variadic("minf", &[Type::Any], Type::Any, |call| {
        fold_floats(call, |left, right| -greater(-left, -right))
    }),
    Function::new("add1f", &[Type::Any], |call| {
        decimals(call.arguments(), BigDecimal::from(1), add)
    }),
    Function::variadic("addf", &[], Type::Any, |call| {
        decimals(call.arguments(), BigDecimal::zero(), add)
    }),
    Function::variadic("subf", &[Type::Any], Type::Any, |call| {
        fold_decimals(call, |left, right| Ok(left - right))
    }),
    Function::variadic("mulf", &[Type::Any], Type::Any, |call| {
        fold_decimals(call, |left, right| Ok(left * right))
    }),
    Function::variadic("divf", &[Type::Any], Type::Any, |call| {
        fold_decimals(call, quotient)
    }),
];

fn int64(number: i64) -> Result<Value, Failure> {
    Ok(Value::int64(number))
}

fn pair(call: &Call<'_>) -> Result<(i64, i64), Failure> {
    Ok((to_int64(call.argument(0)?), to_int64(call.argument(1)?)))
}

fn divided(call: &Call<'_>) -> Result<(i64, i64), Failure> {
    match pair(call)? {
        (_, 0) => Err(Failure::new("runtime error: integer divide by zero")),
        both => Ok(both),
    }
}

fn fold_integers(call: &Call<'_>, combine: fn(i64, i64) -> i64) -> Result<Value, Failure> {
    let first = to_int64(call.argument(0)?);
    int64(call.rest().iter().map(to_int64).fold(first, combine))
}

fn fold_floats(call: &Call<'_>, combine: fn(f64, f64) -> f64) -> Result<Value, Failure> {
    let first = to_float64(call.argument(0)?);
    Ok(call
        .rest()
        .iter()
        .map(to_float64)
        .fold(first, combine)
        .into())
}

/// Go's `math.Max`: NaN wins, and 0 is greater than -0.
fn greater(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else if left == 0.0 && right == 0.0 && left.is_sign_negative() {
        right
    } else if left >= right {
        left
    } else {
        right
    }
}

/// Rounds up where the part after the last wanted digit is at least the third argument, one half without one.
fn round(call: &mut Call<'_>) -> Result<Value, Failure> {
    let threshold = match call.rest().first() {
        Some(Value::Float(threshold)) => *threshold,
        _ => 0.5,
    };
    let scale = power_of_ten(call.int(1)?);
    let scaled = to_float64(call.argument(0)?) * scale;
    let rounded = if scaled.fract() >= threshold {
        scaled.ceil()
    } else {
        scaled.floor()
    };
    Ok((rounded / scale).into())
}

/// Go's `math.Pow(10, exponent)`, whose last digits differ from those of the correctly rounded power.
fn power_of_ten(exponent: i64) -> f64 {
    // 10 is 0.625 × 2⁴.
    let (mut factor, mut factor_exponent) = (0.625_f64, 4_i64);
    let (mut power, mut power_exponent) = (1.0_f64, 0_i64);
    let mut bits = exponent.unsigned_abs();
    while bits != 0 {
        if factor_exponent.abs() > 1 << 12 {
            power_exponent += factor_exponent;
            break;
        }
        if bits & 1 == 1 {
            power *= factor;
            power_exponent += factor_exponent;
        }
        factor *= factor;
        factor_exponent <<= 1;
        if factor < 0.5 {
            factor += factor;
            factor_exponent -= 1;
        }
        bits >>= 1;
    }
    if exponent < 0 {
        (power, power_exponent) = (1.0 / power, -power_exponent);
    }
    // Twice, because half of the exponent alone may be a float's.
    let half = i32::try_from(power_exponent / 2).unwrap_or(i32::MAX);
    let rest = i32::try_from(power_exponent - power_exponent / 2).unwrap_or(i32::MAX);
    power * 2.0_f64.powi(half) * 2.0_f64.powi(rest)
}

type Operation = fn(&BigDecimal, &BigDecimal) -> Result<BigDecimal, Failure>;

/// Digits after the point that a division keeps.
const DIVISION_DIGITS: i64 = 16;

fn add(left: &BigDecimal, right: &BigDecimal) -> Result<BigDecimal, Failure> {
    Ok(left + right)
}

fn quotient(left: &BigDecimal, right: &BigDecimal) -> Result<BigDecimal, Failure> {
    if right.is_zero() {
        return Err(Failure::new("decimal division by 0"));
    }
    Ok((left / right).with_scale_round(DIVISION_DIGITS, RoundingMode::HalfUp))
}

fn fold_decimals(call: &Call<'_>, combine: Operation) -> Result<Value, Failure> {
    let first = decimal(call.argument(0)?)?;
    decimals(call.rest(), first, combine)
}

/// Exact arithmetic on the shortest digits of each float.
fn decimals(operands: &[Value], first: BigDecimal, combine: Operation) -> Result<Value, Failure> {
    let mut result = first;
    for operand in operands {
        result = combine(&result, &decimal(operand)?)?;
    }
    Ok(result.to_f64().unwrap_or(0.0).into())
}

/// The decimal that prints like the float.
fn decimal(value: &Value) -> Result<BigDecimal, Failure> {
    let number = to_float64(value);
    let text = format!("{number:e}");
    text.parse().map_err(|_| {
        let name = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        };
        Failure::new(format!("Cannot create a Decimal from {name}"))
    })
}

/// The numbers from `start`, in steps, as far as before `stop`. None if the step leads away or nowhere.
#[derive(Clone, Copy)]
struct Steps {
    start: i64,
    stop: i64,
    step: i64,
}

impl Steps {
    /// How many numbers there are.
    fn count(self) -> usize {
        let (way, step) = (
            i128::from(self.stop) - i128::from(self.start),
            i128::from(self.step),
        );
        if way == 0 || step == 0 || (way > 0) != (step > 0) {
            return 0;
        }
        let whole = way / step + i128::from(way % step != 0);
        usize::try_from(whole).unwrap_or(usize::MAX)
    }

    fn numbers(self) -> impl Iterator<Item = i64> {
        let next = move |number: &i64| number.checked_add(self.step);
        std::iter::successors(Some(self.start), next).take(self.count())
    }
}

fn list_of_ints(call: &mut Call<'_>, steps: Steps) -> Result<Value, Failure> {
    call.budget().spend_list(steps.count())?;
    let numbers = steps.numbers().map(Value::int).collect();
    Ok(List::new(Type::INT, numbers).into())
}

/// Numbers with spaces between them, the last one included: `seq LAST`, `seq FIRST LAST`, `seq FIRST STEP LAST`.
fn seq(call: &mut Call<'_>) -> Result<Value, Failure> {
    let numbers: Vec<i64> = call.rest().iter().map(to_int64).collect();
    let (start, step, end) = match *numbers.as_slice() {
        [end] => (1, None, end),
        [start, end] => (start, None, end),
        [start, step, end] if end >= start || step <= 0 => (start, Some(step), end),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    let steps = Steps {
        start,
        stop: end.wrapping_add(direction),
        step: step.unwrap_or(direction),
    };
    call.budget().spend_list(steps.count())?;
    let texts: Vec<String> = steps.numbers().map(|number| number.to_string()).collect();
    let text = texts.join(" ");
    call.budget().spend_string(text.len())?;
    Ok(text.into())
}
