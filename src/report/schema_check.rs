//! Test only: the records as serialised are what docs/schema and docs/results.md say.

use std::collections::BTreeSet;

use serde_json::Value;

use super::run::Advection;
use super::sample;

const SCHEMA: &str = include_str!("../../docs/schema/run.schema.json");
const ENV_SCHEMA: &str = include_str!("../../docs/schema/env.schema.json");
const SWAP_SCHEMA: &str = include_str!("../../docs/schema/swap.schema.json");
const TUNE_SCHEMA: &str = include_str!("../../docs/schema/tune.schema.json");
const CHAPTER: &str = include_str!("../../docs/results.md");

fn keys(object: &Value) -> BTreeSet<&str> {
    let map = object.as_object().unwrap();
    map.keys().map(String::as_str).collect()
}

/// Whether `value` is what `schema` asks for: enough of JSON Schema for our own file, and
/// stricter in that an object has exactly the properties of the schema, all of them required.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return check(root, &root["$defs"][name], value, path);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let results: Vec<_> = choices
            .iter()
            .map(|c| check(root, c, value, path))
            .collect();
        return if results.iter().any(Result::is_ok) {
            Ok(())
        } else {
            results.into_iter().next().unwrap()
        };
    }
    if let Some(constant) = schema.get("const") {
        return (constant == value)
            .then_some(())
            .ok_or(format!("{path}: {value} is not {constant}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(list) => list.iter().map(|t| t.as_str().unwrap()).collect(),
        Value::String(one) => vec![one],
        _ => return Err(format!("{path}: the schema has no type")),
    };
    let fits = types.iter().any(|&kind| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    });
    if !fits {
        return Err(format!("{path}: {value} is not one of {types:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{path}: {value} is not in {allowed:?}"));
    }
    if let (Some(list), Some(items)) = (value.as_array(), schema.get("items")) {
        for (index, item) in list.iter().enumerate() {
            check(root, items, item, &format!("{path}[{index}]"))?;
        }
    }
    if let (true, Some(properties)) = (value.is_object(), schema.get("properties")) {
        if keys(properties) != keys(value) {
            let differing: Vec<_> = keys(properties)
                .symmetric_difference(&keys(value))
                .map(|key| (*key).to_owned())
                .collect();
            return Err(format!(
                "{path}: only in one of schema and record: {differing:?}"
            ));
        }
        let required: BTreeSet<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| k.as_str().unwrap())
            .collect();
        if required != keys(properties) {
            return Err(format!("{path}: required is not the list of properties"));
        }
        for (key, inner) in properties.as_object().unwrap() {
            check(root, inner, &value[key], &format!("{path}.{key}"))?;
        }
    }
    Ok(())
}

/// A record in which every optional part exists.
fn full() -> Value {
    let mut record = sample::record();
    record.results.diagnostics[0].case1 = Some(Advection {
        min: 0.0,
        max: 0.0,
        mean: 0.0,
        variance: 0.0,
    });
    serde_json::to_value(record).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

#[test]
fn a_record_has_exactly_the_keys_and_types_of_the_schema() {
    let schema = schema();
    check(&schema, &schema, &full(), "record").unwrap();
}

#[test]
fn a_swap_record_too() {
    let schema: Value = serde_json::from_str(SWAP_SCHEMA).unwrap();
    let mut record = sample::swap_record();
    let fits = |record: &sample::SwapRecord| {
        let value = serde_json::to_value(record).unwrap();
        check(&schema, &schema, &value, "record")
    };
    fits(&record).unwrap();
    // With an engine, without what was not measured.
    record.results.cases[0].order = None;
    record.results.cases[0].protocol = None;
    record.results.cases[0].curve[0].seconds = None;
    record.results.cases[0].figures.bandwidth_mb_s = f64::NAN;
    record.results.cases[0].bandwidth_ci95_mb_s = None;
    record.results.recommendation.overall = None;
    fits(&record).unwrap();
    let text = serde_json::to_string(&record).unwrap();
    let read: sample::SwapRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn a_record_of_a_search_too() {
    let schema: Value = serde_json::from_str(TUNE_SCHEMA).unwrap();
    let mut record = sample::tune_record();
    let fits = |record: &sample::TuneRecord| {
        let value = serde_json::to_value(record).unwrap();
        check(&schema, &schema, &value, "record")
    };
    fits(&record).unwrap();
    let results = &mut record.results;
    results.default = None;
    (
        results.layouts[0].step_seconds,
        results.layouts[0].floor_seconds,
    ) = (None, None);
    results.layouts[0].dropped = None;
    let stage = &mut results.stages[0];
    (stage.typical, stage.worst, stage.grade) = (None, None, None);
    (stage.ways[0].ratio.ci95_low, stage.ways[0].ratio.ci95_high) = (None, None);
    fits(&record).unwrap();
}

#[test]
fn a_record_full_of_nulls_fits_too() {
    let mut record = sample::record();
    record.verdict.fail("a reason");
    let results = &mut record.results;
    results.seconds_per_step = super::run::StepTimes::of(Vec::new());
    results.set_rates();
    results.flops_per_step = f64::NAN;
    results.diagnostics[0].norms = None;
    if let Some(norms) = &mut results.diagnostics[1].norms {
        norms.v = None;
        norms.h.l1 = f64::INFINITY;
    }
    record.provenance.cpu = super::machine::Cpu::default();
    record.provenance.ended = None;
    let schema = schema();
    check(
        &schema,
        &schema,
        &serde_json::to_value(record).unwrap(),
        "record",
    )
    .unwrap();
}

#[test]
fn a_record_of_env_has_exactly_the_keys_and_types_of_its_schema() {
    let schema: Value = serde_json::from_str(ENV_SCHEMA).unwrap();
    let mut record = sample::env();
    let fits = |record: &super::env::EnvRecord| {
        let value = serde_json::to_value(record).unwrap();
        check(&schema, &schema, &value, "record").unwrap();
    };
    fits(&record);
    let results = &mut record.results;
    (results.mpi, results.eager) = (None, None);
    results.caches = super::machine::Caches::default();
    results.peak_flops = super::env::Rate::of(&[]);
    (results.ranks[0].host, results.ranks[0].cpus) = (None, None);
    fits(&record);
}

#[test]
fn the_check_sees_what_is_wrong() {
    let schema = schema();
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut value = full();
        change(&mut value);
        check(&schema, &schema, &value, "record").unwrap_err()
    };
    assert!(wrong(&|v| v["results"]["extra"] = 1.into()).contains("extra"));
    assert!(wrong(&|v| v["kind"] = "swap".into()).contains("record.kind"));
    assert!(wrong(&|v| v["results"]["steps"] = (-1).into()).contains("results.steps"));
    assert!(wrong(&|v| v["verdict"]["status"] = "MAYBE".into()).contains("MAYBE"));
    assert!(wrong(&|v| v["results"]["phases"][1]["seconds"] = 1.into()).contains("phases[1]"));
}

#[test]
fn the_chapter_defines_every_key() {
    fn collect(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    found.insert(key.clone());
                    collect(inner, found);
                }
            }
            Value::Array(list) => list.iter().for_each(|inner| collect(inner, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    let others = [
        serde_json::to_value(sample::swap_record()).unwrap(),
        serde_json::to_value(sample::env()).unwrap(),
        serde_json::to_value(sample::tune_record()).unwrap(),
    ];
    for mut record in std::iter::once(full()).chain(others) {
        record["input"] = Value::Null;
        collect(&record, &mut found);
    }
    let missing: Vec<_> = found
        .iter()
        .filter(|key| {
            !CHAPTER.contains(&format!("`{key}`")) && !CHAPTER.contains(&format!(".{key}`"))
        })
        .collect();
    assert!(
        missing.is_empty(),
        "docs/results.md does not define {missing:?}"
    );
}
