import CCryptography
import COpenSSL
import Capabilities

extension CertificateDraft {
    /// Writes the version, a random serial number, the subject, the dates and the public key.
    func fill(_ certificate: borrowing X509Handle, key: PrivateKey) throws(CryptographyError) {
        var serial = try Random.bytes(16)
        // The number must be positive, and a leading zero would make it shorter than the others.
        serial[0] = serial[0] & 0x7F | 0x40
        guard let number = unsafe BN_bin2bn(serial, Int32(serial.count), nil) else {
            throw ErrorQueue.failure("make a serial number")
        }
        defer { unsafe BN_free(number) }
        let name = Array(commonName.utf8)
        let subject = unsafe X509_get_subject_name(certificate.pointer)
        guard
            unsafe X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_UTF8, name, Int32(clamping: name.count), -1, 0) == 1
        else {
            ErrorQueue.clear()
            throw CryptographyError(.parameters, "a certificate's name has 1 to 64 characters")
        }
        // Version 3 is written as 2, because counting begins at 0.
        guard unsafe X509_set_version(certificate.pointer, 2) == 1,
            unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.pointer)) != nil,
            unsafe X509_set_pubkey(certificate.pointer, key.handle) == 1
        else { throw ErrorQueue.failure("make a certificate") }
        try unsafe set(X509_getm_notBefore(certificate.pointer), to: notBefore)
        try unsafe set(X509_getm_notAfter(certificate.pointer), to: notAfter)
    }

    /// Writes what it may be used for, its names, and which keys it and its issuer have.
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
                throw ErrorQueue.failure("write what a certificate may be used for")
            }
        }
        guard !names.isEmpty else { return }
        guard let list = unsafe ccryptography_names_new() else { throw ErrorQueue.failure("write names") }
        defer { unsafe ccryptography_names_free(list) }
        for name in names {
            let address = IPAddress(name)
            let bytes = address?.bytes ?? Array(name.utf8)
            guard address != nil || (!bytes.isEmpty && bytes.count < 256 && bytes.allSatisfy { $0 > 32 && $0 < 127 })
            else { throw CryptographyError(.parameters, "a certificate cannot be made for the name \(name)") }
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
        // The last is the end of the year 9999, behind which certificates have no date.
        guard (0...253_402_300_799).contains(seconds), unsafe ASN1_TIME_set(field, time_t(seconds)) != nil else {
            ErrorQueue.clear()
            throw CryptographyError(.parameters, "a certificate cannot have the date \(time.iso8601)")
        }
    }
}
