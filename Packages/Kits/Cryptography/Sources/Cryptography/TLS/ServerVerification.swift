import CCryptography
import COpenSSL
public import Capabilities
import Synchronization

/// Decides inside TLS handshakes whether servers' certificates are accepted, and remembers what was shown.
///
///     let verification = ServerVerification(host: "lab.local", port: 443) { trust.judge($0) }
///     try verification.install(on: context)      // in CURLOPT_SSL_CTX_FUNCTION
///
/// libcurl needs `SSL_VERIFYPEER` 1 and `SSL_VERIFYHOST` 0, because the name is checked here. It compares none of this
/// when it reuses a connection, so requests that are judged differently must not share a pool of connections.
public final class ServerVerification: Sendable {
    /// The name or address that the person asked for.
    public let host: String
    public let port: Int
    private let judge: (@Sendable (PresentedCertificate) -> TrustJudgement)?
    private let last = Mutex<Outcome?>(nil)

    /// What came of a handshake.
    public enum Outcome: Sendable, Hashable {
        case accepted(PresentedCertificate)
        /// Refused, with the reason and what a person can do about it.
        case refused(PresentedCertificate, String)
        /// The server's certificate could not be read, so there was nothing to judge; always refused.
        case unreadable(CryptographyError)
    }

    /// Without a judge a certificate is accepted only when nothing is wrong with it.
    ///
    /// The judge runs on the thread of the handshake, must answer at once and never ask anybody.
    public init(host: String, port: Int, judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil) {
        self.host = host
        self.port = port
        self.judge = judge
    }

    /// What the last handshake came to; nil when none got as far as the server's certificate.
    public var outcome: Outcome? { last.withLock { $0 } }

    /// Takes over the judging of a client's `SSL_CTX`, which keeps this object for as long as it exists itself.
    ///
    /// It also rules out versions before TLS 1.2, resumed sessions and renegotiation. Authorities are those of the context.
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
        // Errors left behind would be taken for the handshake's own.
        ErrorQueue.clear()
        return unsafe tell(context, outcome)
    }

    /// libcurl reads the verdict from the context afterwards, whatever this callback returns.
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
