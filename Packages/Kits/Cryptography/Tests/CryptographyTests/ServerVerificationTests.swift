import COpenSSL
import Capabilities
import Synchronization
import Testing

@testable import Cryptography

@Suite("Server verification", .timeLimit(.minutes(5)))
struct ServerVerificationTests {
    /// The results of a handshake on both sides and of the verification.
    private struct Meeting {
        var client: TLSProgress
        var server: TLSProgress
        var outcome: ServerVerification.Outcome?
        var verdict: Int

        var defects: [CertificateDefect]? {
            switch outcome {
            case .accepted(let presented), .refused(let presented, _): presented.defects
            case .unreadable, nil: nil
            }
        }
    }

    /// Performs a handshake between a client that trusts `authorities` and a server that presents `identity`.
    private func meet(
        _ identity: Identity, host: String = "lab.local", knowing authorities: [Certificate] = [], weak: Bool = false,
        judge: (@Sendable (PresentedCertificate) -> TrustJudgement)? = nil
    ) throws -> Meeting {
        let verification = ServerVerification(host: host, port: 443, judge: judge)
        let context = try ClientContext(authorities: authorities)
        try context.install(verification)
        let sockets = try SocketPair()
        var client = try context.session(sockets.client)
        let results: (client: TLSProgress, server: TLSProgress)
        if weak {
            let serving = try WeakServerContext(identity)
            var server = try serving.session(sockets.server)
            results = shake(&client, &server)
        } else {
            var server = try TLSSession(TLSServerContext(identity: identity), descriptor: sockets.server)
            results = shake(&client, &server)
        }
        return Meeting(
            client: results.client, server: results.server, outcome: verification.outcome, verdict: client.verdict)
    }

    /// Expects a refusal without a judge for exactly these defects, and acceptance by a judge that pins the
    /// certificate.
    private func expect(
        _ defects: [CertificateDefect], _ identity: Identity, host: String = "lab.local",
        knowing authorities: [Certificate] = [], weak: Bool = false, location: SourceLocation = #_sourceLocation
    ) throws {
        let strict = try meet(identity, host: host, knowing: authorities, weak: weak)
        #expect(Set(strict.defects ?? []) == Set(defects), sourceLocation: location)
        #expect(strict.defects?.count == defects.count, sourceLocation: location)
        #expect(strict.client.failure?.kind == .untrusted, sourceLocation: location)
        #expect(strict.verdict != Int(X509_V_OK), sourceLocation: location)
        if defects == [.wrongName] {
            #expect(strict.verdict == Int(X509_V_ERR_HOSTNAME_MISMATCH), sourceLocation: location)
        }
        guard case .refused(let presented, let words) = strict.outcome else {
            Issue.record("it was not refused", sourceLocation: location)
            return
        }
        for defect in defects { #expect(words.contains(defect.description), sourceLocation: location) }
        #expect(presented.chain == identity.chain.map(\.encoded), sourceLocation: location)
        let pin = identity.certificate.fingerprint
        let pinned = try meet(identity, host: host, knowing: authorities, weak: weak) {
            $0.fingerprint == pin ? .accepted : .refused("changed")
        }
        #expect(pinned.client == .done(0) && pinned.server == .done(0), sourceLocation: location)
        #expect(pinned.verdict == Int(X509_V_OK), sourceLocation: location)
        #expect(pinned.outcome == .accepted(presented), sourceLocation: location)
    }

    @Test("A certificate of a known authority for the right name is accepted without defects")
    func good() throws {
        let root = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["lab.local", "127.0.0.1"]).signed(by: root)
        for host in ["lab.local", "LAB.local.", "127.0.0.1"] {
            let meeting = try meet(leaf, host: host, knowing: root.chain)
            #expect(meeting.client == .done(0) && meeting.server == .done(0))
            #expect(meeting.verdict == Int(X509_V_OK))
            guard case .accepted(let presented) = meeting.outcome else {
                Issue.record("not accepted: \(String(describing: meeting.outcome))")
                return
            }
            #expect(presented.defects.isEmpty)
            #expect(presented.host == host && presented.port == 443)
            #expect(presented.chain == [leaf.certificate.encoded])
            #expect(presented.fingerprint == leaf.certificate.fingerprint)
            #expect(presented.keyFingerprint == leaf.certificate.keyFingerprint)
            #expect(presented.subject == "CN=lab" && presented.issuer == "CN=root")
            #expect(presented.names == ["lab.local", "127.0.0.1"])
            #expect(presented.notBefore == leaf.certificate.notBefore)
            #expect(presented.notAfter == leaf.certificate.notAfter)
        }
    }

    @Test("A self-signed certificate has only that defect")
    func selfSigned() throws {
        try expect([.selfSigned], draft("lab", ["lab.local"]).selfSigned())
    }

    @Test("A self-signed certificate that the system trusts is accepted until it expires")
    func known() throws {
        let identity = try draft("lab", ["lab.local"]).selfSigned()
        let meeting = try meet(identity, knowing: identity.chain)
        #expect(meeting.client == .done(0) && meeting.defects == [])
        let expired = try draft("lab", ["lab.local"], from: -9, to: -2).selfSigned()
        try expect([.expired], expired, knowing: expired.chain)
    }

    @Test("An authority's own certificate is unsuitable for a server")
    func servingAuthority() throws {
        let authority = try draft("lab", ["lab.local"], authority: true).selfSigned()
        try expect([.selfSigned, .other("unsuitable certificate purpose")], authority)
    }

    @Test("An expired self-signed certificate for another name has three defects")
    func everything() throws {
        try expect([.selfSigned, .expired, .wrongName], draft("x", ["x.org"], from: -9, to: -2).selfSigned())
    }

    @Test("An expired date and a future date are separate defects")
    func dates() throws {
        let root = try draft("root", authority: true).selfSigned()
        let expired = try draft("lab", ["lab.local"], from: -9, to: -2).signed(by: root)
        try expect([.expired], expired, knowing: root.chain)
        let early = try draft("lab", ["lab.local"], from: 2, to: 9).signed(by: root)
        try expect([.notYetValid], early, knowing: root.chain)
        let oldRoot = try draft("old root", from: -9, to: -2, authority: true).selfSigned()
        let young = try draft("lab", ["lab.local"]).signed(by: oldRoot)
        try expect([.expired], young, knowing: oldRoot.chain)
    }

    @Test("A name or address that is not in the certificate is wrong")
    func names() throws {
        let root = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["other.local"]).signed(by: root)
        try expect([.wrongName], leaf, knowing: root.chain)
        try expect([.wrongName], leaf, host: "127.0.0.1", knowing: root.chain)
    }

    @Test("An untrusted issuer is unknown, even if the chain is complete")
    func unknown() throws {
        let root = try draft("root", authority: true).selfSigned()
        let other = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["lab.local"]).signed(by: root)
        try expect([.unknownIssuer], leaf)
        let complete = try Identity(chain: leaf.chain + root.chain, key: leaf.key)
        try expect([.unknownIssuer], complete)
        // An authority of the same name but with another key: the link to it does not verify.
        let meeting = try meet(leaf, knowing: other.chain)
        #expect(meeting.client.failure?.kind == .untrusted)
        #expect(meeting.defects?.isEmpty == false)
    }

    @Test("A chain needs its intermediate certificate, which must not be expired")
    func intermediate() throws {
        let root = try draft("root", authority: true).selfSigned()
        let middle = try draft("middle", authority: true).signed(by: root)
        let leaf = try draft("lab", ["lab.local"]).signed(by: middle)
        let good = try meet(leaf, knowing: root.chain)
        #expect(good.client == .done(0) && good.defects == [])
        #expect(try meet(leaf, knowing: [middle.certificate]).defects == [])
        let alone = try Identity(chain: [leaf.certificate], key: leaf.key)
        try expect([.unknownIssuer], alone, knowing: root.chain)
        let oldMiddle = try draft("middle", from: -9, to: -2, authority: true).signed(by: root)
        try expect([.expired], draft("lab", ["lab.local"]).signed(by: oldMiddle), knowing: root.chain)
    }

    @Test("A certificate that signs others without being an authority is refused")
    func noAuthority() throws {
        let root = try draft("root", authority: true).selfSigned()
        let middle = try draft("middle").signed(by: root)
        let leaf = try draft("lab", ["lab.local"]).signed(by: middle)
        let meeting = try meet(leaf, knowing: root.chain)
        #expect(meeting.client.failure?.kind == .untrusted)
        #expect(meeting.defects?.isEmpty == false)
    }

    @Test("A modified certificate of a known authority has a bad signature")
    func badSignature() throws {
        let root = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["lab.local"], key: .rsa(bits: 2048)).signed(by: root)
        var changed = leaf.certificate.encoded
        changed[changed.count - 1] ^= 1
        let forged = try Identity(chain: [Certificate(der: changed)], key: leaf.key)
        try expect([.other("certificate signature failure")], forged, knowing: root.chain)
    }

    @Test("A short RSA key is weak, both in the leaf and in an authority")
    func weakKeys() throws {
        let root = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["lab.local"], key: .rsa(bits: 1024)).signed(by: root)
        try expect([.weakKey(bits: 1024)], leaf, knowing: root.chain, weak: true)
        let weakRoot = try draft("root", authority: true, key: .rsa(bits: 1024)).selfSigned()
        let strong = try draft("lab", ["lab.local"]).signed(by: weakRoot)
        try expect([.weakKey(bits: 1024)], strong, knowing: weakRoot.chain, weak: true)
    }

    @Test("A judge can refuse a certificate that the system trusts, and its reason is kept")
    func refusal() throws {
        let root = try draft("root", authority: true).selfSigned()
        let leaf = try draft("lab", ["lab.local"]).signed(by: root)
        let meeting = try meet(leaf, knowing: root.chain) { _ in .refused("not today") }
        #expect(meeting.client.failure?.kind == .untrusted)
        #expect(meeting.verdict == Int(X509_V_ERR_APPLICATION_VERIFICATION))
        guard case .refused(let presented, "not today") = meeting.outcome else {
            Issue.record("\(String(describing: meeting.outcome))")
            return
        }
        #expect(presented.defects.isEmpty)
    }

    @Test("Every connection of a context is judged again, even if the first was accepted")
    func everyTime() throws {
        let identity = try draft("lab", ["lab.local"]).selfSigned()
        let serving = try TLSServerContext(identity: identity)
        let calls = Counter()
        let verification = ServerVerification(host: "lab.local", port: 443) { _ in
            calls.next() == 1 ? .accepted : .refused("withdrawn")
        }
        let context = try ClientContext()
        try context.install(verification)
        for round in 1...3 {
            let sockets = try SocketPair()
            var client = try context.session(sockets.client)
            var server = try TLSSession(serving, descriptor: sockets.server)
            let result = shake(&client, &server)
            #expect(calls.value == round)
            #expect((result.client == .done(0)) == (round == 1))
        }
    }

    @Test("A context retains its verification until it is freed or gets another")
    func lifetime() throws {
        weak var first: ServerVerification?
        weak var second: ServerVerification?
        do {
            let context = try ClientContext()
            func install() throws -> ServerVerification {
                let verification = ServerVerification(host: "lab.local", port: 443)
                try context.install(verification)
                return verification
            }
            first = try install()
            #expect(first != nil)
            second = try install()
            #expect(first == nil)
            #expect(second != nil)
        }
        #expect(second == nil)
    }

    @Test("A context that cannot require TLS 1.2 is refused and does not retain the verification")
    func unusableContext() throws {
        guard let context = unsafe SSL_CTX_new(DTLS_client_method()) else { throw ErrorQueue.failure("make a client") }
        weak var kept: ServerVerification?
        do {
            let verification = ServerVerification(host: "lab.local", port: 443) { _ in .accepted }
            kept = verification
            #expect(throws: CryptographyError.self) {
                try unsafe verification.install(on: UnsafeMutableRawPointer(context))
            }
            unsafe SSL_CTX_free(context)
            #expect(kept === verification)
        }
        #expect(kept == nil)
    }

    @Test("A server that supports only TLS 1.1 and older is refused")
    func oldVersions() throws {
        let identity = try draft("lab", ["lab.local"]).selfSigned()
        let context = try ClientContext()
        try context.install(ServerVerification(host: "lab.local", port: 443) { _ in .accepted })
        let sockets = try SocketPair()
        var client = try context.session(sockets.client)
        var server = try WeakServerContext(identity, newest: TLS1_1_VERSION).session(sockets.server)
        let result = shake(&client, &server)
        #expect(result.client != .done(0) && result.server != .done(0))
    }
}

/// Counts calls from any thread.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    var value: Int { count.withLock { $0 } }
}

/// A server context that accepts keys and versions that ours refuses.
@safe
final class WeakServerContext {
    private let handle: OpaquePointer

    init(_ identity: Identity, newest: Int32 = TLS1_3_VERSION) throws {
        guard let handle = unsafe SSL_CTX_new(TLS_server_method()) else { throw ErrorQueue.failure("make a server") }
        unsafe self.handle = handle
        unsafe SSL_CTX_set_security_level(handle, 0)
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
        let certificate = try X509Handle(der: identity.certificate.encoded.span)
        unsafe SSL_CTX_use_certificate(handle, certificate.pointer)
        unsafe SSL_CTX_use_PrivateKey(handle, identity.key.handle)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    func session(_ descriptor: Int32) throws -> TLSSession {
        let session = try unsafe TLSSession.make(handle, descriptor)
        unsafe SSL_set_accept_state(session)
        return unsafe TLSSession(owning: session)
    }
}
