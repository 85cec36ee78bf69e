import CCryptography
import COpenSSL
public import Capabilities

/// The content of a new certificate. Creates the certificate with a new key, self-signed or signed by an authority.
///
///     var draft = CertificateDraft(commonName: "lab", notBefore: now, notAfter: later)
///     draft.names = ["lab.local", "127.0.0.1", "::1"]
///     let identity = try draft.selfSigned()
public struct CertificateDraft: Sendable, Hashable {
    /// At most 64 characters.
    public var commonName: String
    /// Names and addresses that it is valid for.
    public var names: [String] = []
    /// The first moment at which it is valid.
    public var notBefore: Timestamp
    /// The last moment at which it is valid.
    public var notAfter: Timestamp
    /// The kind of the key that is created for it.
    public var key: PrivateKey.Kind = .p256
    /// Whether it may sign other certificates.
    public var isAuthority = false

    /// A certificate without names and without the right to sign others.
    public init(commonName: String, notBefore: Timestamp, notAfter: Timestamp) {
        self.commonName = commonName
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Creates a self-signed certificate.
    public func selfSigned() throws(CryptographyError) -> Identity {
        let key = try PrivateKey(making: key)
        let certificate = try sign(key: key, issuer: nil)
        return try Identity(chain: [certificate], key: key)
    }

    /// Creates a certificate signed by an authority. The chain contains the issuer unless it is the root.
    public func signed(by issuer: Identity) throws(CryptographyError) -> Identity {
        let key = try PrivateKey(making: key)
        let certificate = try sign(key: key, issuer: issuer)
        return try Identity(chain: [certificate] + issuer.chain.filter { !$0.isSelfIssued }, key: key)
    }

    private func sign(key: PrivateKey, issuer: Identity?) throws(CryptographyError) -> Certificate {
        ErrorQueue.clear()
        guard let pointer = unsafe X509_new() else { throw ErrorQueue.failure("create a certificate") }
        let certificate = unsafe X509Handle(owning: pointer)
        let issuerCertificate = try issuer.map { identity throws(CryptographyError) in
            try X509Handle(der: identity.certificate.encoded.span)
        }
        try fill(certificate, key: key)
        switch issuerCertificate {
        case .some(let authority):
            guard unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(authority.pointer)) == 1 else {
                throw ErrorQueue.failure("set the issuer")
            }
            try extend(certificate, issuer: authority)
        case .none:
            guard unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(certificate.pointer)) == 1
            else { throw ErrorQueue.failure("set the issuer") }
            try extend(certificate, issuer: certificate)
        }
        guard unsafe X509_sign(certificate.pointer, (issuer?.key ?? key).handle, EVP_sha256()) > 0 else {
            throw ErrorQueue.failure("sign a certificate")
        }
        return try Certificate(certificate)
    }
}

extension CertificateDraft {
    /// A certificate for a server that only programs on this machine use. It is valid for `localhost`, the loopback
    /// addresses and the given names, starting an hour ago because clocks differ.
    public static func local(
        _ commonName: String, also names: [String] = [], from now: Timestamp, days: Int
    ) -> CertificateDraft {
        let hour: Int64 = 3_600_000_000
        var draft = CertificateDraft(
            commonName: commonName, notBefore: Timestamp(microseconds: now.microseconds - hour),
            notAfter: Timestamp(microseconds: now.microseconds + Int64(days) * 24 * hour))
        draft.names = ["localhost", "127.0.0.1", "::1"]
        for name in names where !draft.names.contains(name) { draft.names.append(name) }
        return draft
    }
}

extension CertificateDraft {
    /// Writes the version, a random serial number, the subject, the dates and the public key.
    func fill(_ certificate: borrowing X509Handle, key: PrivateKey) throws(CryptographyError) {
        var serial = try Random.bytes(16)
        // The number must be positive and must not have a leading zero, which would make it shorter.
        serial[0] = serial[0] & 0x7F | 0x40
        guard let number = unsafe BN_bin2bn(serial, Int32(serial.count), nil) else {
            throw ErrorQueue.failure("create a serial number")
        }
        defer { unsafe BN_free(number) }
        let name = Array(commonName.utf8)
        let subject = unsafe X509_get_subject_name(certificate.pointer)
        guard
            unsafe X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_UTF8, name, Int32(clamping: name.count), -1, 0) == 1
        else {
            ErrorQueue.clear()
            throw CryptographyError(.parameters, "the common name of a certificate must have 1 to 64 characters")
        }
        // Version 3 is encoded as 2, because counting starts at 0.
        guard unsafe X509_set_version(certificate.pointer, 2) == 1,
            unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.pointer)) != nil,
            unsafe X509_set_pubkey(certificate.pointer, key.handle) == 1
        else { throw ErrorQueue.failure("create a certificate") }
        try unsafe set(X509_getm_notBefore(certificate.pointer), to: notBefore)
        try unsafe set(X509_getm_notAfter(certificate.pointer), to: notAfter)
    }

    /// Writes the extensions: usage, names, and the key ids of the certificate and its issuer.
    func extend(_ certificate: borrowing X509Handle, issuer: borrowing X509Handle) throws(CryptographyError) {
        var extensions: [(Int32, String)] =
            isAuthority
            ? [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
            : [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature,keyEncipherment"),
                (NID_ext_key_usage, "serverAuth,clientAuth"),
            ]
        extensions += [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid")]
        for (number, value) in extensions {
            guard unsafe ccryptography_add_extension(certificate.pointer, issuer.pointer, number, value) == 1 else {
                throw ErrorQueue.failure("write the extensions of a certificate")
            }
        }
        guard !names.isEmpty else { return }
        guard let list = unsafe ccryptography_names_new() else { throw ErrorQueue.failure("write names") }
        defer { unsafe ccryptography_names_free(list) }
        for name in names {
            let address = IPAddress(name)
            let bytes = address?.bytes ?? Array(name.utf8)
            guard address != nil || (!bytes.isEmpty && bytes.count < 256 && bytes.allSatisfy { $0 > 32 && $0 < 127 })
            else { throw CryptographyError(.parameters, "'\(name)' is not a valid name for a certificate") }
            guard unsafe ccryptography_names_add(list, address == nil ? GEN_DNS : GEN_IPADD, bytes, bytes.count) == 1
            else { throw ErrorQueue.failure("write names") }
        }
        guard
            unsafe X509_add1_ext_i2d(
                certificate.pointer, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0) == 1
        else { throw ErrorQueue.failure("write names") }
    }

    private func set(_ field: UnsafeMutablePointer<ASN1_TIME>?, to time: Timestamp) throws(CryptographyError) {
        let seconds = time.microseconds / 1_000_000
        // The last value is the end of the year 9999, the latest date in certificates.
        guard (0...253_402_300_799).contains(seconds), unsafe ASN1_TIME_set(field, time_t(seconds)) != nil else {
            ErrorQueue.clear()
            throw CryptographyError(.parameters, "\(time.iso8601) is not a valid date for a certificate")
        }
    }
}
