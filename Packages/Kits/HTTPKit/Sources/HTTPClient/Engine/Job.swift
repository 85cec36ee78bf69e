import CHTTPClient
import Capabilities
import Cryptography
import HTTPCore

/// One try while it runs: its handle, its clock, and what libcurl's callbacks need. It never leaves the engine's
/// thread.
final class Job {
    let transfer: Transfer
    let easy: EasyHandle
    /// Judges the server, when the connection is made for this try.
    private(set) var verification: ServerVerification?
    private(set) var clock: TransferClock {
        didSet { if clock.phase != oldValue.phase { loop.heed(clock) } }
    }
    var head: HeadReader
    /// Whether a proxy is set for the address, which does not say that it is used: some hosts are excepted.
    private(set) var hasProxy = false
    /// Why a callback ended the transfer; it comes before whatever libcurl makes of that.
    var failure: HTTPError?
    /// Nil for a caller who may speak to every server.
    private(set) var gate: AddressGate?
    /// A part of the request may be with the server.
    private(set) var mayHaveBeenSent = false
    /// The number of its stream in a connection of HTTP/2, as far as it is known.
    private var stream = 0
    private(set) var received = 0
    private(set) var sent = 0
    /// Something came in the present turn of the loop.
    var isFresh = false
    /// The loop has it on its list of readers to be woken.
    var isListed = false
    /// Whether anybody wants to hear of bytes before the end.
    private let isWatched: Bool
    /// Whether libcurl asks for the body piece by piece; a small one it was given whole.
    var sendsByCallback = false
    private var isReceivePaused = false
    /// Since when, by the clock of the loop.
    private var receivePausedAt: Int64 = 0
    private var isSendPaused = false
    private unowned let loop: EngineLoop

    init(_ transfer: Transfer, _ easy: EasyHandle, in loop: EngineLoop) {
        self.transfer = transfer
        self.easy = easy
        self.loop = loop
        let plan = transfer.plan
        isWatched = if case .stream = plan.delivery { true } else { plan.onProgress != nil }
        clock = TransferClock(limits: transfer.plan.limits, now: loop.now)
        head = HeadReader(limit: transfer.plan.headLimit)
    }

    /// Tells libcurl about the server and whom to trust.
    func configureConnection(_ setup: ConnectionSetup) throws(HTTPError) {
        let proxy = plan.unixSocket == nil ? setup.proxies.proxy(for: plan.url) : nil
        hasProxy = proxy != nil
        gate = try AddressGate(plan.grant, plan.url, through: proxy)
        verification = try setup.configure(easy, url: plan.url, unixSocket: plan.unixSocket, connect: plan.connect)
    }

    var plan: TransferPlan { transfer.plan }

    /// What the server said the body is long; not for compressed ones, whose length here is another.
    private var expected: Int? {
        guard contentLength >= 0, !isCompressed else { return nil }
        return contentLength - received
    }

    private var contentLength = -1
    private var isCompressed = false

    /// Of an answer that ends with its connection.
    private var farewell: Farewell?

    /// Whether the end that libcurl reports can be the end that the server meant.
    var isWhole: Bool { head.isComplete && farewell?.wasHeard ?? true }

    func resume() {
        guard isReceivePaused else { return }
        isReceivePaused = false
        transfer.released(after: loop.now - receivePausedAt)
        clock.releasedByReader(now: loop.now)
        loop.heed(clock)
        pauseAsNoted()
    }

    func feed() {
        guard isSendPaused else { return }
        isSendPaused = false
        clock.releasedByWriter(now: loop.now)
        loop.heed(clock)
        pauseAsNoted()
    }

    private func pauseAsNoted() {
        let mask = (isReceivePaused ? CURLPAUSE_RECV : 0) | (isSendPaused ? CURLPAUSE_SEND : 0)
        _ = unsafe curl_easy_pause(easy.raw, mask)
    }

    var progress: HTTPProgress {
        HTTPProgress(
            sent: sent, toSend: plan.upload.length, received: received,
            toReceive: contentLength >= 0 ? contentLength : nil)
    }
}

// MARK: What libcurl calls. True means that the transfer goes on.

extension Job {
    /// The connection is there, perhaps from before, and the request is about to be sent.
    func connected(to peer: @autoclosure () -> ConnectedPeer) -> Bool {
        if let gate, !gate.allows(peer()) {
            failure = gate.refusal
            return false
        }
        // libcurl sends a request again by itself when a connection that was kept dies without an answer. The server
        // may have done the work all the same.
        guard !mayHaveBeenSent || plan.mayRepeat else {
            failure = HTTPError(
                .reset,
                "\(plan.url.server) closed the connection while the request was under way; it may have been done, "
                    + "so look before you send it again", server: plan.url.server)
            return false
        }
        mayHaveBeenSent = true
        (received, sent) = (0, 0)
        head = HeadReader(limit: plan.headLimit)
        clock.connected(hasBody: sendsByCallback && plan.upload.length != 0, now: loop.now)
        return true
    }

    /// Learns from libcurl's words that the server has not looked at the request: it refused the stream, or said in its
    /// farewell that it took none as late as this one (RFC 9113, 8.7). What libcurl then sends again is sent once.
    func hear(_ words: String) {
        func number(after mark: String) -> Int? {
            guard let range = words.firstRange(of: mark) else { return nil }
            return Int(words[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
        }
        if let stream = number(after: "Using Stream ID: ") { self.stream = stream }
        let isRefused = words.hasPrefix("REFUSED_STREAM")
        let isLate = number(after: "last_stream=").map { stream > $0 } ?? false
        if isRefused || isLate { mayHaveBeenSent = false }
    }

    func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        switch unsafe head.read(line) {
        case .line: return true
        case .interim: clock.interim(now: loop.now)
        case .tooLarge:
            failure = HTTPError(
                .headTooLarge,
                "\(plan.url.server) sent more than \(ByteCount(plan.headLimit).words) of header lines, "
                    + "which is the limit", server: plan.url.server)
            return false
        case .complete:
            clock.received(now: loop.now)
            return receiveHead()
        }
        return true
    }

    private func receiveHead() -> Bool {
        let head = ResponseHead(
            status: head.status, headers: head.headers, version: head.version,
            isReused: easy.int(CURLINFO_NUM_CONNECTS) == 0)
        if let length = head.headers["Content-Length"].flatMap({ Int($0) }), length >= 0 { contentLength = length }
        isCompressed = plan.understandsCompressed && head.headers["Content-Encoding"] != nil
        if case .whole(let limit) = plan.delivery, contentLength > limit, plan.method != .head, !isCompressed {
            failure = tooLarge(limit)
            return false
        }
        let endsWithConnection =
            contentLength < 0 && head.version.major == 1 && !head.headers.has("Transfer-Encoding", "chunked")
        if endsWithConnection, plan.url.scheme == .https { farewell = Farewell(of: easy) }
        transfer.receive(head)
        return true
    }

    enum Receipt { case taken, pause, refused }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        clock.received(now: loop.now)
        switch unsafe transfer.receive(bytes, expected: expected) {
        case .taken:
            received += bytes.count
            loop.count(bytes.count)
            isFresh = true
            if !isListed, isWatched { loop.list(self) }
            return .taken
        case .pause:
            isReceivePaused = true
            receivePausedAt = loop.now
            clock.holdByReader()
            return .pause
        case .tooLarge:
            if case .whole(let limit) = plan.delivery { failure = tooLarge(limit) }
            return .refused
        }
    }

    enum Portion { case bytes(Int), later, refused }

    func send(into buffer: UnsafeMutableRawBufferPointer) -> Portion {
        var count = 0
        switch plan.upload {
        case .none: break
        case .bytes(let bytes):
            count = min(buffer.count, bytes.count - sent)
            unsafe bytes.withUnsafeBytes { source in
                unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[sent..<sent + count]))
            }
        case .file(let file):
            do {
                count = try unsafe file.read(at: sent, into: buffer)
            } catch {
                failure = error
                failure?.mayHaveBeenSent = mayHaveBeenSent
                return .refused
            }
        case .pipe(let pipe):
            switch unsafe pipe.read(into: buffer) {
            case .bytes(let read): count = read
            case .end: break
            case .empty:
                isSendPaused = true
                clock.holdByWriter()
                return .later
            case .failed(let error):
                failure = HTTPError(
                    .body, "the body for \(plan.url.server) could not be made: \(AnyFailure(error).message)",
                    server: plan.url.server, cause: error)
                return .refused
            }
            if let length = pipe.length, count == 0 ? sent < length : sent + count > length {
                failure = HTTPError(
                    .body,
                    "the body for \(plan.url.server) was announced with \(length) bytes and has "
                        + "\(count == 0 ? "only \(sent)" : "more")", server: plan.url.server)
                return .refused
            }
        }
        sent += count
        clock.sent(isLast: count == 0 || sent == plan.upload.length, now: loop.now)
        if plan.onProgress != nil, !isListed { loop.list(self) }
        return .bytes(count)
    }

    /// Goes back to an earlier place of the body, when libcurl has to send it again.
    func seek(to offset: Int) -> Bool {
        if case .pipe = plan.upload { return false }
        sent = offset
        return true
    }

    private func tooLarge(_ limit: Int) -> HTTPError {
        HTTPError(
            .tooLarge,
            "the answer of \(plan.url.server) is larger than \(ByteCount(limit).words), which is the limit; "
                + "read it as a stream, or raise the limit", status: head.status, server: plan.url.server)
    }
}
