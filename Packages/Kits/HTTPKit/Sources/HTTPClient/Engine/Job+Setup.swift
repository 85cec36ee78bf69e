import CHTTPClient
import HTTPCore

extension Job {
    /// Tells libcurl everything about the request. The job must live until its handle was taken out of the loop.
    func configure(_ setup: ConnectionSetup, userAgent: String) throws(HTTPError) {
        try configureConnection(setup)
        easy.set(CURLOPT_USERAGENT, userAgent)
        easy.set(CURLOPT_BUFFERSIZE, plan.readSize)
        if plan.understandsCompressed { easy.set(CURLOPT_ACCEPT_ENCODING, "") }
        configureVersion()
        var lines = plan.lines
        // What is understood is not asked for with that.
        if plan.understandsCompressed, !plan.asksCompressed { lines.append("Accept-Encoding:") }
        try configureBody(&lines)
        // libcurl would wait a second for servers that do not know it, and answer a refusal of it by asking again.
        lines.append("Expect:")
        if !lines.isEmpty { easy.setLines(lines) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let raw = unsafe easy.raw
        unsafe easy.set(CURLOPT_PRIVATE, pointer: UnsafeRawPointer(context))
        easy.note(unsafe httpclient_set_write(raw, Job.onBody, context), CURLOPT_WRITEFUNCTION)
        easy.note(unsafe httpclient_set_header(raw, Job.onLine, context), CURLOPT_HEADERFUNCTION)
        easy.note(unsafe httpclient_set_prerequest(raw, Job.onConnected, context), CURLOPT_PREREQFUNCTION)
        gate?.install(on: easy)
        // Only in its words for people does libcurl tell that a server has not looked at a request.
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
            // A method that usually has a body says that it has none; the others do not mention it.
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

    /// Gives a small body to libcurl, which sends it together with the head.
    private func copyBody(_ bytes: [UInt8], _ lines: inout [String]) {
        easy.set(CURLOPT_POST, 1)
        easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: bytes.count)
        if bytes.isEmpty {
            // With no pointer at all libcurl would read from standard input.
            easy.set(CURLOPT_COPYPOSTFIELDS, "")
        } else {
            unsafe bytes.withUnsafeBytes { unsafe easy.set(CURLOPT_COPYPOSTFIELDS, pointer: $0.baseAddress) }
        }
        // libcurl would call it a form.
        if !plan.hasContentType { lines.append("Content-Type:") }
    }
}
