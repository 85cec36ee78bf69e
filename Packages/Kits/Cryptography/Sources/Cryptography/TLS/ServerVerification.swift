import CCryptography
import COpenSSL
public import Capabilities
import Synchronization

/// Decides inside TLS handshakes whether a server's certificate is accepted, and remembers the certificate.
///
///     let verification = ServerVerification(host: "lab.local", port: 443) { trust.judge($0) }
///     try verification.install(on: context)      // in CURLOPT_SSL_CTX_FUNCTION
///
/// libcurl needs `SSL_VERIFYPEER` 1 and `SSL_VERIFYHOST` 0, because the name is checked here. libcurl ignores the judge
/// when it reuses a connection, so requests with different judges must not share a pool of connections.
public final class ServerVerification: Sendable {
    /// The requested name or address.
    public let host: String
    /// The requested port.
    public let port: Int
    private let judge: (@Sendable (PresentedCertificate) -> TrustJudgement)?
    private let last = Mutex<Outcome?>(nil)

    /// The outcome of a handshake.
    public enum Outcome: Sendable, Hashable {
        /// Accepted: without defects, or by the judge.
        case accepted(PresentedCertificate)
        /// Refused, with the reason and the remedy.
        case refused(PresentedCertificate, String)
        /// The server's certificate could not be parsed, so it is refused.
        case unreadable(CryptographyError)
    }

    /// Without a judge, only a certificate without defects is accepted.
    ///
    /// The judge runs on the thread of the handshake. It must return at once and must not ask the user.
    public init(host: String, port: Int, judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil) {
        self.host = host
        self.port = port
        self.judge = judge
    }

    /// The outcome of the last handshake. Nil when none reached the server's certificate.
    public var outcome: Outcome? { last.withLock { $0 } }

    /// Installs this object as the judge of a client's `SSL_CTX`, which retains it.
    ///
    /// It also rejects versions before TLS 1.2, resumed sessions and renegotiation. The context keeps its authorities.
    @unsafe
    public func install(on context: UnsafeMutableRawPointer) throws(CryptographyError) {
        let object = unsafe Unmanaged.passRetained(self)
        let installed = unsafe ccryptography_judge_servers(
            OpaquePointer(context), object.toOpaque(),
            { object in
                if let object = unsafe object { unsafe Unmanaged<ServerVerification>.fromOpaque(object).release() }
            },
            { context, object in
                guard let context = unsafe context, let object = unsafe object else { return 0 }
                let verification = unsafe Unmanaged<ServerVerification>.fromOpaque(object).takeUnretainedValue()
                return unsafe verification.verify(context) ? 1 : 0
            })
        guard installed == 1 else {
            unsafe object.release()
            throw ErrorQueue.failure("prepare a TLS connection")
        }
    }

    /// Runs inside the handshake: true continues it.
    private func verify(_ context: OpaquePointer) -> Bool {
        let outcome: Outcome
        do {
            let presented = try unsafe ChainInspection(context).presented(to: host, port: port)
            switch judge?(presented) ?? Self.strict(presented) {
            case .accepted: outcome = .accepted(presented)
            case .refused(let words): outcome = .refused(presented, words)
            }
        } catch {
            outcome = .unreadable(error)
        }
        last.withLock { $0 = outcome }
        // Remaining errors would be mistaken for errors of the handshake.
        ErrorQueue.clear()
        return unsafe tell(context, outcome)
    }

    /// libcurl reads the verdict from the context later, regardless of the result of this callback.
    private func tell(_ context: OpaquePointer, _ outcome: Outcome) -> Bool {
        switch outcome {
        case .accepted:
            unsafe X509_STORE_CTX_set_error(context, X509_V_OK)
            return true
        case .refused(let presented, _):
            let onlyName = presented.defects == [.wrongName]
            unsafe X509_STORE_CTX_set_error(
                context, onlyName ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_APPLICATION_VERIFICATION)
        case .unreadable:
            unsafe X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
        }
        return false
    }

    private static func strict(_ presented: PresentedCertificate) -> TrustJudgement {
        guard !presented.defects.isEmpty else { return .accepted }
        let defects = presented.defects.map(\.description).joined(separator: ", ")
        return .refused("the certificate of \(presented.host) was refused: \(defects)")
    }
}

/// Collects all defects of the chain of one handshake, during its callback.
@safe
struct ChainInspection {
    private let context: OpaquePointer

    init(_ context: OpaquePointer) {
        unsafe self.context = context
    }

    /// Verifies the chain and returns the certificate that the server presented.
    func presented(to host: String, port: Int) throws(CryptographyError) -> PresentedCertificate {
        guard let pointer = unsafe X509_STORE_CTX_get0_cert(context) else {
            throw CryptographyError(.malformed, "the server sent no certificate")
        }
        let leaf = unsafe X509Handle(retaining: pointer)
        let certificate = try Certificate(leaf)
        var defects = DefectList()
        find(&defects, leaf: leaf)
        if !leaf.matches(host: host) { defects.add(.wrongName) }
        // Verification can stop before it checks dates and keys, so both are also checked here.
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
            // The server's own certificate comes first.
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
        // Some failures, such as a lack of memory, are not reported as defects.
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

/// Defects without duplicates, in the order they were found.
struct DefectList {
    private(set) var all: [CertificateDefect] = []

    mutating func add(_ defect: CertificateDefect) {
        if !all.contains(defect) { all.append(defect) }
    }

    /// Adds a defect from the library. `bits` is the key length of that certificate.
    mutating func add(_ defect: ccryptography_defect, selfSigned: Bool, bits: Int) {
        switch defect.error {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: add(.selfSigned)
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            // For the library, a self-signed certificate that may not sign others has no issuer.
            add(selfSigned ? .selfSigned : .unknownIssuer)
        case X509_V_ERR_CERT_HAS_EXPIRED: add(.expired)
        case X509_V_ERR_CERT_NOT_YET_VALID: add(.notYetValid)
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: add(.wrongName)
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: add(.weakKey(bits: bits))
        case X509_V_ERR_CERT_REVOKED: add(.revoked)
        default: add(.other(Self.words(defect.error)))
        }
    }

    /// The library's text for an error number.
    static func words(_ error: Int32) -> String {
        // The text is a constant of the library.
        unsafe X509_verify_cert_error_string(Int(error)).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
