import CHTTPClient
import Capabilities
import Cryptography
import Glibc
import HTTPCore

/// A running attempt: its handle, its clock, and the data for libcurl's callbacks. It never leaves the engine's thread.
final class Job {
    let transfer: Transfer
    let easy: EasyHandle
    /// Judges the server if the connection is made for this attempt.
    private(set) var verification: ServerVerification?
    private(set) var clock: TransferClock {
        didSet { if clock.phase != oldValue.phase { loop.heed(clock) } }
    }
    var head: HeadReader
    /// Whether a proxy is set for the address. Excepted hosts still do not use it.
    private(set) var hasProxy = false
    /// Why a callback ended the transfer; takes precedence over libcurl's error.
    var failure: HTTPError?
    /// Nil for a caller who may reach every server.
    private(set) var gate: AddressGate?
    /// The server may have received part of the request.
    private(set) var mayHaveBeenSent = false
    /// The HTTP/2 stream number, if known.
    private var stream = 0
    private(set) var received = 0
    private(set) var sent = 0
    /// Data arrived in this turn of the loop.
    var isFresh = false
    /// The loop has listed this job's reader to be woken.
    var isListed = false
    /// Whether the caller wants to see bytes before the end.
    private let isWatched: Bool
    /// Whether libcurl requests the body piece by piece; a small body is passed to it whole.
    private var sendsByCallback = false
    private var isReceivePaused = false
    /// The loop clock's time when receiving was paused.
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

    /// Configures the server and the trust in libcurl.
    func configureConnection(_ setup: ConnectionSetup) throws(HTTPError) {
        let proxy = plan.unixSocket == nil ? setup.proxies.proxy(for: plan.url) : nil
        hasProxy = proxy != nil
        gate = try AddressGate(plan.grant, plan.url, through: proxy)
        verification = try setup.configure(easy, url: plan.url, unixSocket: plan.unixSocket, connect: plan.connect)
    }

    var plan: TransferPlan { transfer.plan }

    /// The body length the server announced; nil for compressed bodies, whose decompressed length differs.
    private var expected: Int? {
        guard contentLength >= 0, !isCompressed else { return nil }
        return contentLength - received
    }

    private var contentLength = -1
    private var isCompressed = false

    /// For a response that ends with its connection.
    private var farewell: Farewell?

    /// Whether the end reported by libcurl can be the end that the server intended.
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

// MARK: Called by libcurl. True means that the transfer continues.

extension Job {
    /// The connection, possibly a reused one, is ready and the request is about to be sent.
    func connected(to peer: @autoclosure () -> ConnectedPeer) -> Bool {
        if let gate, !gate.allows(peer()) {
            failure = gate.refusal
            return false
        }
        // libcurl resends a request by itself when a reused connection dies without a response. The server may already
        // have done the work.
        guard !mayHaveBeenSent || plan.mayRepeat else {
            failure = HTTPError(
                .reset,
                "\(plan.url.server) closed the connection during the request; the server may have processed it, so "
                    + "check before you send it again", server: plan.url.server)
            return false
        }
        mayHaveBeenSent = true
        (received, sent) = (0, 0)
        head = HeadReader(limit: plan.headLimit)
        clock.connected(hasBody: sendsByCallback && plan.upload.length != 0, now: loop.now)
        return true
    }

    /// Detects in libcurl's log that the server did not process the request: it refused the stream, or its GOAWAY
    /// excluded it (RFC 9113, 8.7). When libcurl then resends it, the server still processes it only once.
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
                "\(plan.url.server) sent more header lines than the limit of "
                    + "\(ByteCount(plan.headLimit).words)", server: plan.url.server)
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
            isReused: easy.int(CURLINFO_NUM_CONNECTS) == 0, times: times)
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
        if !isListed, isWatched { loop.list(self) }
        return true
    }

    private var times: ResponseHead.Times {
        func time(_ info: CURLINFO) -> Duration? {
            let time = easy.offset(info)
            return time > 0 ? .microseconds(time) : nil
        }
        var times = ResponseHead.Times(firstByte: time(CURLINFO_STARTTRANSFER_TIME_T))
        guard easy.int(CURLINFO_NUM_CONNECTS) > 0 else { return times }
        times.connected = time(CURLINFO_CONNECT_TIME_T)
        times.secured = time(CURLINFO_APPCONNECT_TIME_T)
        return times
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
                    .body, "cannot create the body for \(plan.url.server): \(AnyFailure(error).message)",
                    server: plan.url.server, cause: error)
                return .refused
            }
            if let length = pipe.length, count == 0 ? sent < length : sent + count > length {
                failure = HTTPError(
                    .body,
                    "the body for \(plan.url.server) was declared with \(length) bytes but has "
                        + "\(count == 0 ? "only \(sent)" : "more")", server: plan.url.server)
                return .refused
            }
        }
        sent += count
        clock.sent(isLast: count == 0 || sent == plan.upload.length, now: loop.now)
        if plan.onProgress != nil, !isListed { loop.list(self) }
        return .bytes(count)
    }

    /// Goes back to an earlier position in the body when libcurl must resend it.
    func seek(to offset: Int) -> Bool {
        if case .pipe = plan.upload { return false }
        sent = offset
        return true
    }

    private func tooLarge(_ limit: Int) -> HTTPError {
        HTTPError(
            .tooLarge,
            "the response from \(plan.url.server) is larger than the limit of \(ByteCount(limit).words); read it as a "
                + "stream, or raise the limit", status: head.status, server: plan.url.server)
    }
}

/// The callbacks for libcurl, each with a job as its context. They are static members because a closure formed in
/// isolated code would trap on the engine's thread.
extension Job {
    static let onBody: curl_write_callback = { start, size, count, context in
        guard let context = unsafe context else { return 0 }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
        return switch unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().receiveBody(bytes) {
        case .taken: bytes.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        // Any value other than the count ends the transfer.
        case .refused: bytes.count + 1
        }
    }

    static let onLine: curl_write_callback = { start, size, count, context in
        guard let context = unsafe context else { return 0 }
        let line = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
        return unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().receiveLine(line) ? line.count : 0
    }

    static let onSend: curl_read_callback = { start, size, count, context in
        guard let context = unsafe context else { return Int(CURL_READFUNC_ABORT) }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: start, count: size * count)
        return switch unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().send(into: buffer) {
        case .bytes(let count): count
        case .later: Int(CURL_READFUNC_PAUSE)
        case .refused: Int(CURL_READFUNC_ABORT)
        }
    }

    static let onSeek: curl_seek_callback = { context, offset, origin in
        guard let context = unsafe context, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
        let job = unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue()
        return job.seek(to: Int(offset)) ? Int32(CURL_SEEKFUNC_OK) : Int32(CURL_SEEKFUNC_FAIL)
    }

    static let onWords: curl_debug_callback = { _, type, start, count, context in
        guard type == CURLINFO_TEXT, let start = unsafe start, let context = unsafe context else { return 0 }
        let words = unsafe UnsafeRawBufferPointer(start: start, count: count)
        unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().hear(String(decoding: words, as: UTF8.self))
        return 0
    }

    static let onConnected: curl_prereq_callback = { context, address, _, port, _ in
        guard let context = unsafe context else { return Int32(CURL_PREREQFUNC_ABORT) }
        let goesOn = unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().connected(
            to: ConnectedPeer(address: unsafe address.map { unsafe String(cString: $0) } ?? "", port: Int(port)))
        return Int32(goesOn ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
    }
}

extension Job {
    /// Configures the request in libcurl. The job must live until its handle is removed from the loop.
    func configure(_ setup: ConnectionSetup, userAgent: String) throws(HTTPError) {
        try configureConnection(setup)
        easy.set(CURLOPT_USERAGENT, userAgent)
        easy.set(CURLOPT_BUFFERSIZE, plan.readSize)
        if plan.understandsCompressed { easy.set(CURLOPT_ACCEPT_ENCODING, "") }
        configureVersion()
        var lines = plan.lines
        // CURLOPT_ACCEPT_ENCODING also adds the header; it is removed where compression should not be requested.
        if plan.understandsCompressed, !plan.asksCompressed { lines.append("Accept-Encoding:") }
        try configureBody(&lines)
        // libcurl would wait a second for servers that do not know it, and resend the request after a refusal.
        lines.append("Expect:")
        if !lines.isEmpty { easy.setLines(lines) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let raw = unsafe easy.raw
        unsafe easy.set(CURLOPT_PRIVATE, pointer: UnsafeRawPointer(context))
        easy.note(unsafe httpclient_set_write(raw, Job.onBody, context), CURLOPT_WRITEFUNCTION)
        easy.note(unsafe httpclient_set_header(raw, Job.onLine, context), CURLOPT_HEADERFUNCTION)
        easy.note(unsafe httpclient_set_prerequest(raw, Job.onConnected, context), CURLOPT_PREREQFUNCTION)
        gate?.install(on: easy)
        // Only libcurl's log shows that a server did not process a request.
        if !plan.mayRepeat, plan.mayUseHTTP2 {
            easy.note(unsafe httpclient_set_debug(raw, Job.onWords, context), CURLOPT_DEBUGFUNCTION)
        }
        try easy.checkOptions(server: plan.url.server)
    }

    private func configureVersion() {
        easy.set(CURLOPT_HTTP_VERSION, Int(plan.mayUseHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        if plan.mayUseHTTP2 { easy.set(CURLOPT_PIPEWAIT, 1) }
    }

    private func configureBody(_ lines: inout [String]) throws(HTTPError) {
        if case .none = plan.upload, plan.method == .get { return }
        if plan.method == .head { return easy.set(CURLOPT_NOBODY, 1) }
        easy.set(CURLOPT_CUSTOMREQUEST, plan.method.rawValue)
        switch plan.upload {
        case .none:
            // A method that usually has a body declares an empty one; other methods omit the header.
            guard [.post, .put, .patch].contains(plan.method) else { return }
            copyBody([], &lines)
        case .bytes(let bytes) where bytes.count <= 64 << 10 && plan.onProgress == nil:
            copyBody(bytes, &lines)
        default:
            sendsByCallback = true
            easy.set(CURLOPT_UPLOAD, 1)
            easy.set(CURLOPT_INFILESIZE_LARGE, offset: plan.upload.length ?? -1)
            easy.set(CURLOPT_UPLOAD_BUFFERSIZE, plan.readSize)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            easy.note(unsafe httpclient_set_read(easy.raw, Job.onSend, context), CURLOPT_READFUNCTION)
            easy.note(unsafe httpclient_set_seek(easy.raw, Job.onSeek, context), CURLOPT_SEEKFUNCTION)
        }
    }

    /// Passes a small body to libcurl, which sends it together with the head.
    private func copyBody(_ bytes: [UInt8], _ lines: inout [String]) {
        easy.set(CURLOPT_POST, 1)
        easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: bytes.count)
        if bytes.isEmpty {
            // Without a pointer libcurl would read from standard input.
            easy.set(CURLOPT_COPYPOSTFIELDS, "")
        } else {
            unsafe bytes.withUnsafeBytes { unsafe easy.set(CURLOPT_COPYPOSTFIELDS, pointer: $0.baseAddress) }
        }
        // libcurl would declare it a form.
        if !plan.hasContentType { lines.append("Content-Type:") }
    }
}
