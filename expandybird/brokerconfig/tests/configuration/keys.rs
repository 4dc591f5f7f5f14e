//! Keys and certificates: every kind in every encoding.

use serde_json::{Value, json};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAltName};

use crate::support::evaluated;

const KINDS: [&str; 6] = [
    "RSA",
    "EllipticP224",
    "EllipticP256",
    "EllipticP384",
    "EllipticP521",
    "ED25519",
];

fn value(expression: &str) -> Result<String, String> {
    let found = evaluated(expression, json!({}), &json!([]))?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

fn key(kind: &str, encoding: &str) -> Result<String, String> {
    let bits = if kind == "RSA" { "1024" } else { "nil" };
    value(&format!(
        r#"{{{{ generatePrivateKey "{kind}" "{encoding}" {bits} }}}}"#
    ))
}

#[test]
fn a_key_has_the_encodings_of_its_kind() {
    for kind in KINDS {
        for (encoding, label) in [
            ("PKCS#1", "RSA PRIVATE KEY"),
            ("PKCS#8", "PRIVATE KEY"),
            ("SEC 1", "EC PRIVATE KEY"),
        ] {
            let fits = match encoding {
                "PKCS#1" => kind == "RSA",
                "SEC 1" => kind.starts_with("Elliptic"),
                _ => true,
            };
            match (key(kind, encoding), fits) {
                (Ok(pem), true) => assert!(
                    pem.starts_with(&format!("-----BEGIN {label}-----\n")),
                    "{pem}"
                ),
                (Err(error), false) => assert!(error.contains("invalid key for"), "{error}"),
                (found, _) => panic!("{kind} {encoding}: {found:?}"),
            }
        }
    }
    for (expression, expected) in [
        (
            r#"{{ generatePrivateKey "DSA" "PKCS#8" nil }}"#,
            "invalid key type DSA",
        ),
        (
            r#"{{ generatePrivateKey "RSA" "DER" 1024 }}"#,
            "invalid encoding type DER",
        ),
        (
            r#"{{ generatePrivateKey "RSA" "PKCS8" nil }}"#,
            "RSA key length not specified",
        ),
        (
            r#"{{ generatePrivateKey "RSA" "PKCS8" "x" }}"#,
            "bits is not an integer",
        ),
    ] {
        let error = value(expression).unwrap_err();
        assert!(error.contains(expected), "{expression}: {error}");
    }
}

/// The certificate of an authority with a key of this kind, and of a server that it signs.
fn certificates(kind: &str) -> Result<(Certificate, Certificate), String> {
    let bits = if kind == "RSA" { "1024" } else { "nil" };
    let registry = json!([
        {"name": "ca-key", "value": format!(r#"{{{{ generatePrivateKey "{kind}" "PKCS#8" {bits} }}}}"#)},
        {"name": "ca", "value": r#"{{ generateCertificate (registry "ca-key") "CA" "87600h" "CA" nil nil nil }}"#},
        {"name": "key", "value": r#"{{ generatePrivateKey "EllipticP256" "SEC 1" nil }}"#},
        {"name": "names", "value": r#"{{ list "DNS:a.example.test" "EMAIL:a@example.test" }}"#},
        {"name": "cert", "value": r#"{{ generateCertificate (registry "key") "Server" "8760h" "Server" (registry "names") (registry "ca-key") (registry "ca") }}"#},
    ]);
    let both = evaluated(
        r#"{{ list (registry "ca") (registry "cert") }}"#,
        json!({}),
        &registry,
    )?;
    Ok((certificate(&both[0]), certificate(&both[1])))
}

fn certificate(pem: &Value) -> Certificate {
    use base64::Engine as _;
    let lines = pem.as_str().unwrap().lines();
    let body: String = lines.filter(|line| !line.starts_with("-----")).collect();
    let der = base64::prelude::BASE64_STANDARD.decode(body).unwrap();
    Certificate::from_der(&der).unwrap()
}

#[test]
fn an_authority_signs_certificates_of_servers() {
    for kind in KINDS {
        let found = certificates(kind);
        if kind == "ED25519" {
            let error = found.unwrap_err();
            assert!(error.contains("cannot use ed25519 keys"), "{error}");
            continue;
        }
        let (authority, server) = found.unwrap();
        let (authority, server) = (authority.tbs_certificate(), server.tbs_certificate());
        assert_eq!(authority.subject(), server.issuer(), "{kind}");
        assert_eq!(authority.issuer(), authority.subject());
        let (critical, constraints) = authority
            .get_extension::<BasicConstraints>()
            .unwrap()
            .unwrap();
        assert!(critical && constraints.ca);
        let (_, usage) = authority.get_extension::<KeyUsage>().unwrap().unwrap();
        assert!(usage.key_cert_sign() && usage.crl_sign());
        let (_, constraints) = server.get_extension::<BasicConstraints>().unwrap().unwrap();
        assert!(!constraints.ca);
        let (_, purposes) = server.get_extension::<ExtendedKeyUsage>().unwrap().unwrap();
        assert_eq!(purposes.0.len(), 1);
        let (_, names) = server.get_extension::<SubjectAltName>().unwrap().unwrap();
        assert_eq!(names.0.len(), 2);
        let lifetime = server.validity().not_after.to_unix_duration()
            - server.validity().not_before.to_unix_duration();
        assert_eq!(lifetime.as_secs(), 8760 * 3600);
    }
}

#[test]
fn the_arguments_of_a_certificate_are_checked() {
    let registry = json!([{"name": "key", "value": r#"{{ generatePrivateKey "EllipticP256" "PKCS#8" nil }}"#}]);
    for (arguments, expected) in [
        (
            r#""no key" "n" "1h" "CA" nil nil nil"#,
            "unable to decode PEM",
        ),
        (
            r#"(registry "key") "n" "soon" "CA" nil nil nil"#,
            "invalid duration",
        ),
        (
            r#"(registry "key") "n" "1h" "Root" nil nil nil"#,
            "unknown usage type Root",
        ),
        (
            r#"(registry "key") "n" "1h" "Client" (list "x") nil nil"#,
            "malformed SAN",
        ),
        (
            r#"(registry "key") "n" "1h" "Client" (list "IP:1") nil nil"#,
            "unsupported SAN type IP",
        ),
        (
            r#"(registry "key") "n" "1h" "Client" nil (registry "key") "x""#,
            "CA certificate",
        ),
    ] {
        let expression = format!("{{{{ generateCertificate {arguments} }}}}");
        let error = evaluated(&expression, json!({}), &registry).unwrap_err();
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}
