import CCryptography
import COpenSSL
import Capabilities

/// Finds out everything that is wrong with the chain of one handshake, during its callback.
@safe
struct ChainInspection {
    private let context: OpaquePointer

    init(_ context: OpaquePointer) {
        unsafe self.context = context
    }

    /// Verifies the chain and says what the server showed.
    func presented(to host: String, port: Int) throws(CryptographyError) -> PresentedCertificate {
        guard let pointer = unsafe X509_STORE_CTX_get0_cert(context) else {
            throw CryptographyError(.malformed, "the server showed no certificate")
        }
        let leaf = unsafe X509Handle(retaining: pointer)
        let certificate = try Certificate(leaf)
        var defects = DefectList()
        find(&defects, leaf: leaf)
        if !leaf.matches(host: host) { defects.add(.wrongName) }
        // Verification can stop before it compares dates and keys, so both are looked at here too.
        if unsafe X509_cmp_current_time(X509_get0_notAfter(leaf.pointer)) < 0 { defects.add(.expired) }
        if unsafe X509_cmp_current_time(X509_get0_notBefore(leaf.pointer)) > 0 { defects.add(.notYetValid) }
        if certificate.key.isWeak { defects.add(.weakKey(bits: certificate.key.bits)) }
        return PresentedCertificate(
            host: host, port: port, chain: try sent(after: certificate.encoded), fingerprint: certificate.fingerprint,
            keyFingerprint: certificate.keyFingerprint, subject: certificate.subject, issuer: certificate.issuer,
            names: certificate.dnsNames + certificate.addresses, notBefore: certificate.notBefore,
            notAfter: certificate.notAfter, defects: defects.all)
    }

    private func sent(after own: [UInt8]) throws(CryptographyError) -> [[UInt8]] {
        var chain = [own]
        for index in 0..<(unsafe ccryptography_sent_count(context)) {
            guard let pointer = unsafe ccryptography_sent(context, index) else { continue }
            let encoded = try unsafe X509Handle(retaining: pointer).encoded()
            // The server's own certificate is the first of those it sent.
            if index > 0 || encoded != own { chain.append(encoded) }
        }
        return chain
    }

    private func find(_ defects: inout DefectList, leaf: borrowing X509Handle) {
        var found = ccryptography_defects()
        ErrorQueue.clear()
        let result = unsafe ccryptography_verify(context, &found)
        let selfSigned = unsafe X509_self_signed(leaf.pointer, 1) == 1
        let count = Int(found.count)
        let list = unsafe withUnsafeBytes(of: &found.found) {
            unsafe Array($0.bindMemory(to: ccryptography_defect.self).prefix(count))
        }
        for defect in list { defects.add(defect, selfSigned: selfSigned, bits: key(at: defect.depth).bits) }
        // Some failures, such as a lack of memory, are not reported one by one.
        if result != 1 && count == 0 {
            defects.add(.other(DefectList.words(unsafe X509_STORE_CTX_get_error(context))))
        }
        for index in 0..<(unsafe ccryptography_built_count(context)) {
            let key = key(at: index)
            if key.isWeak { defects.add(.weakKey(bits: key.bits)) }
        }
        ErrorQueue.clear()
    }

    private func key(at depth: Int32) -> PublicKeyFacts {
        guard let pointer = unsafe ccryptography_built(context, depth) else { return .unknown }
        return unsafe X509Handle(retaining: pointer).key()
    }
}
