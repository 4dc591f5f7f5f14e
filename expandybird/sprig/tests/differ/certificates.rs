//! Keys and certificates: each is another one in each run, so that the original reads those that are made here.

use crate::original::{Answer, answers};
use crate::ours;

/// Makers of a certificate, as both sides run them.
const MAKERS: &[&str] = &[
    r#"genCA "an authority" 365"#,
    r#"genSelfSignedCert "example.com" (list "10.0.0.1" "::1") (list "example.com" "*.example.org") 30"#,
    r#"genSelfSignedCert "example.com" nil nil 1"#,
    r#"genCAWithKey "an authority" 365 (genPrivateKey "ecdsa")"#,
    r#"genCAWithKey "an authority" 365 (genPrivateKey "ed25519")"#,
    r#"genSelfSignedCertWithKey "é" nil (list "a") 30 (genPrivateKey "ecdsa")"#,
    r#"genSignedCert "example.com" nil (list "example.com") 30 (genCA "an authority" 365)"#,
    r#"genSignedCertWithKey "example.com" (list "127.0.0.1") nil 30 (genCAWithKey "c" 9 (genPrivateKey "ecdsa")) (genPrivateKey "ed25519")"#,
];

fn text(answer: &Answer) -> &str {
    match answer {
        Answer::Output(text) => text,
        other => panic!("{other:?}"),
    }
}

fn literal(text: &str) -> String {
    format!("{text:?}")
}

#[test]
fn certificates_say_what_those_of_the_original_say() {
    let (mut ours_described, mut theirs_described) = (Vec::new(), Vec::new());
    for maker in MAKERS {
        let made = ours::answer(&format!("{{{{ ({maker}).Cert }}}}"));
        let made = literal(text(&made));
        ours_described.push(format!("{{{{ described {made} }}}}"));
        theirs_described.push(format!("{{{{ described ({maker}).Cert }}}}"));
    }
    let data = serde_json::json!({});
    let (ours, theirs) = (
        answers(&ours_described, &data),
        answers(&theirs_described, &data),
    );
    for ((maker, ours), theirs) in MAKERS.iter().zip(&ours).zip(&theirs) {
        assert_eq!(text(ours), text(theirs), "{maker}");
    }
}

#[test]
fn the_original_accepts_keys_and_signatures() {
    let template = |authority: &str| {
        format!(
            r#"{{{{ $ca := {authority} }}}}{{{{ $leaf := genSignedCert "l" nil nil 9 $ca -}}}}
{{{{ $ca.Cert | quote }}}} {{{{ $ca.Key | quote }}}} {{{{ $leaf.Cert | quote }}}} {{{{ $leaf.Key | quote }}}}"#
        )
    };
    let kinds = [
        r#"genCA "c" 9"#,
        r#"genCAWithKey "c" 9 (genPrivateKey "ecdsa")"#,
        r#"genCAWithKey "c" 9 (genPrivateKey "ed25519")"#,
    ];
    let made: Vec<_> = kinds.map(|kind| ours::answer(&template(kind))).into();
    let checks: Vec<_> = made
        .iter()
        .map(|made| {
            let parts: Vec<_> = text(made).trim().split("\" \"").collect();
            let [ca, ca_key, leaf, leaf_key] = parts.as_slice() else {
                panic!("{parts:?}");
            };
            let (ca, leaf_key) = (ca.trim_start_matches('"'), leaf_key.trim_end_matches('"'));
            format!(
                r#"{{{{ $ca := buildCustomCert ("{ca}" | b64enc) ("{ca_key}" | b64enc) -}}}}
{{{{ $leaf := buildCustomCert ("{leaf}" | b64enc) ("{leaf_key}" | b64enc) -}}}}
{{{{ verified $ca.Cert $leaf.Cert }}}} {{{{ verified $ca.Cert (genSignedCert "x" nil nil 1 $ca).Cert }}}}"#
            )
        })
        .collect();
    for (kind, answer) in kinds.iter().zip(answers(&checks, &serde_json::json!({}))) {
        assert_eq!(text(&answer), "verified verified", "{kind}");
    }
}

#[test]
fn hashes_of_passwords_are_those_of_bcrypt() {
    let made = ours::answer(r#"{{ htpasswd "me" "secret" }} {{ bcrypt "secret" }}"#);
    let made = text(&made);
    assert!(made.starts_with("me:$2a$10$"), "{made}");
    let hash = made.split(' ').nth(1).unwrap_or_default();
    assert!(
        bcrypt::verify("secret", hash).is_ok_and(|same| same),
        "{hash}"
    );
}

#[test]
fn what_is_encrypted_the_original_decrypts() {
    let made = ours::answer(r#"{{ encryptAES "key" "a text" }}"#);
    let template = format!("{{{{ decryptAES \"key\" {:?} }}}}", text(&made));
    let [answer] = answers(&[template], &serde_json::json!({}))
        .try_into()
        .unwrap_or_else(|_| panic!());
    assert_eq!(text(&answer), "a text");
}
