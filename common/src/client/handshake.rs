//! Why a TLS handshake failed, with a way to correct it.

use rustls::{AlertDescription, CertificateError, Error};

/// The owner of the certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The service's certificate is not trusted.
    Untrusted(String),
    /// The service refuses the client's certificate, or requires one.
    Refused(&'static str),
}

/// With TLS 1.3, the client's handshake ends before the service's refusal arrives: the refusal is the answer to the
/// first request.
pub(super) fn fault(error: &reqwest::Error) -> Option<Fault> {
    let start: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(start), |error| error.source());
    causes.find_map(|error| match tls(error)? {
        Error::InvalidCertificate(reason) => Some(Fault::Untrusted(untrusted(reason))),
        Error::AlertReceived(alert) => refused(*alert).map(Fault::Refused),
        _ => None,
    })
}

/// TLS errors are wrapped in I/O errors, several levels deep.
fn tls<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Error> {
    let Some(stream) = error.downcast_ref::<std::io::Error>() else {
        return error.downcast_ref();
    };
    let within: &(dyn std::error::Error + 'static) = stream.get_ref()?;
    tls(within)
}

fn untrusted(reason: &CertificateError) -> String {
    use CertificateError as Reason;
    match reason {
        Reason::Expired | Reason::ExpiredContext { .. } => {
            "it has expired; renew it, or correct the clock".to_owned()
        }
        Reason::NotValidYet | Reason::NotValidYetContext { .. } => {
            "it is not valid yet; correct the clock".to_owned()
        }
        Reason::NotValidForName | Reason::NotValidForNameContext { .. } => {
            "it is for other names; use one of them in the address".to_owned()
        }
        Reason::UnknownIssuer => {
            "none of the known authorities has signed it (UnknownIssuer); configure its authority"
                .to_owned()
        }
        other => other.to_string(),
    }
}

fn refused(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::CertificateRequired => "it requires one, and none was sent",
        AlertDescription::CertificateExpired => "it has expired, or is not valid yet",
        AlertDescription::CertificateRevoked => "it was revoked",
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "the service does not trust the authority that signed it"
        }
        AlertDescription::UnsupportedCertificate => "it is not for clients",
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied => "the service cannot verify it",
        _ => return None,
    })
}
