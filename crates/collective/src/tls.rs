//! Encryption: TLS 1.3 with certificates that are known by their fingerprints.
//!
//! There is no authority to ask. A process tells its fingerprint together with its address, over a
//! connection that is trusted already; whoever connects accepts that very certificate and no other.

use std::io;
use std::sync::Arc;

use ring::digest;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring::{cipher_suite, default_provider};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::net::Stream;
use crate::secret::to_hex;

/// The name in every certificate. Nobody looks at it.
const NAME: &str = "trainyard";
/// Names the purpose of the bytes that bind a proof to its connection.
const BINDING_LABEL: &[u8] = b"EXPORTER-trainyard-proof";

/// Bytes that only the two ends of an encrypted connection know; none where it is plain.
pub(crate) type Binding = Vec<u8>;

/// A new certificate and its key.
pub(crate) fn make_certificate() -> (Vec<u8>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()])
        .expect("a certificate of a fixed name can be made");
    (made.cert.der().to_vec(), made.signing_key.serialize_der())
}

/// What answers knocks; nothing where the key is not the certificate's.
pub(crate) fn acceptor(certificate: &[u8], key: &[u8]) -> Option<TlsAcceptor> {
    let certificate = CertificateDer::from(certificate.to_vec());
    let key = PrivateKeyDer::try_from(key.to_vec()).ok()?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suites are those of TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .ok()?;
    // Connections live as long as their processes: nobody ever resumes one.
    config.send_tls13_tickets = 0;
    Some(TlsAcceptor::from(Arc::new(config)))
}

/// Answers one who knocks.
pub(crate) async fn accept(
    acceptor: &TlsAcceptor,
    stream: Box<dyn Stream>,
) -> io::Result<(Box<dyn Stream>, Binding)> {
    let stream = acceptor.accept(stream).await?;
    let binding = stream.get_ref().1.export_keying_material(vec![0; 32], BINDING_LABEL, None);
    Ok((Box::new(stream), binding.map_err(io::Error::other)?))
}

/// Knocks at one whose certificate has this fingerprint.
pub(crate) async fn connect(
    expected: &str,
    stream: Box<dyn Stream>,
) -> io::Result<(Box<dyn Stream>, Binding)> {
    let verifier = Known { fingerprint: expected.to_owned(), provider: provider() };
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suites are those of TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    let name = ServerName::try_from(NAME).expect("a plain word is a name");
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let binding = stream.get_ref().1.export_keying_material(vec![0; 32], BINDING_LABEL, None);
    Ok((Box::new(stream), binding.map_err(io::Error::other)?))
}

/// The SHA-256 of a certificate in hexadecimal.
pub(crate) fn fingerprint(certificate: &[u8]) -> String {
    to_hex(digest::digest(&digest::SHA256, certificate).as_ref())
}

/// AES-128 first: as safe here as the longer key, and the fastest where the processor knows AES.
fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![
        cipher_suite::TLS13_AES_128_GCM_SHA256,
        cipher_suite::TLS13_AES_256_GCM_SHA384,
        cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    Arc::new(CryptoProvider { cipher_suites, ..default_provider() })
}

/// Accepts the one certificate whose fingerprint was told. Where none was, any will do: what follows
/// proves the run's secret for this very session, both ways.
#[derive(Debug)]
struct Known {
    fingerprint: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.fingerprint.is_empty() || fingerprint(certificate) == self.fingerprint {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only TLS 1.3 is spoken here".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
