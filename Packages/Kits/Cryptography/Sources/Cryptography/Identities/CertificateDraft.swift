import CCryptography
import COpenSSL
public import Capabilities

/// What a new certificate shall say; it makes one with a new key, signed by itself or by an authority.
///
///     var draft = CertificateDraft(commonName: "lab", notBefore: now, notAfter: later)
///     draft.names = ["lab.local", "127.0.0.1", "::1"]
///     let identity = try draft.selfSigned()
public struct CertificateDraft: Sendable, Hashable {
    /// At most 64 characters.
    public var commonName: String
    /// Names and addresses that it is valid for.
    public var names: [String] = []
    public var notBefore: Timestamp
    public var notAfter: Timestamp
    public var key: PrivateKey.Kind = .p256
    /// Whether it may sign others.
    public var isAuthority = false

    public init(commonName: String, notBefore: Timestamp, notAfter: Timestamp) {
        self.commonName = commonName
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Makes a certificate that nobody but itself vouches for.
    public func selfSigned() throws(CryptographyError) -> Identity {
        let key = try PrivateKey(making: key)
        let certificate = try sign(key: key, issuer: nil)
        return try Identity(chain: [certificate], key: key)
    }

    /// Makes a certificate signed by an authority; the chain contains the issuer's unless that is the root.
    public func signed(by issuer: Identity) throws(CryptographyError) -> Identity {
        let key = try PrivateKey(making: key)
        let certificate = try sign(key: key, issuer: issuer)
        return try Identity(chain: [certificate] + issuer.chain.filter { !$0.isSelfIssued }, key: key)
    }

    private func sign(key: PrivateKey, issuer: Identity?) throws(CryptographyError) -> Certificate {
        ErrorQueue.clear()
        guard let pointer = unsafe X509_new() else { throw ErrorQueue.failure("make a certificate") }
        let certificate = unsafe X509Handle(owning: pointer)
        let issuerCertificate = try issuer.map { identity throws(CryptographyError) in
            try X509Handle(der: identity.certificate.encoded.span)
        }
        try fill(certificate, key: key)
        switch issuerCertificate {
        case .some(let authority):
            guard unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(authority.pointer)) == 1 else {
                throw ErrorQueue.failure("name the issuer")
            }
            try extend(certificate, issuer: authority)
        case .none:
            guard unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(certificate.pointer)) == 1
            else { throw ErrorQueue.failure("name the issuer") }
            try extend(certificate, issuer: certificate)
        }
        guard unsafe X509_sign(certificate.pointer, (issuer?.key ?? key).handle, EVP_sha256()) > 0 else {
            throw ErrorQueue.failure("sign a certificate")
        }
        return try Certificate(certificate)
    }
}
