import CHTTPClient
import HTTPCore

/// Owns libcurl's multi handle, which is one pool of connections. Except for the waker, use it only from the thread
/// that made it.
@safe struct MultiHandle: ~Copyable {
    private let raw: UnsafeMutableRawPointer
    /// How many connections are kept for later requests. libcurl's default is four for each running request, so that a
    /// client that asks five servers in turn would have to connect each time.
    private static let kept = 64

    init() throws(HTTPError) {
        try CurlLibrary.require()
        guard let raw = unsafe curl_multi_init() else {
            throw HTTPError(.invalid, "cannot start libcurl: out of memory", mayHaveBeenSent: false)
        }
        // When descriptors are short, libcurl continues without its wakeup socket; then no command could wake the
        // thread.
        guard unsafe curl_multi_wakeup(raw) == CURLM_OK else {
            _ = unsafe curl_multi_cleanup(raw)
            throw HTTPError(
                .invalid, "cannot start libcurl: too many open files", mayHaveBeenSent: false)
        }
        unsafe self.raw = unsafe raw
        _ = unsafe httpclient_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        _ = unsafe httpclient_multi_set_long(raw, CURLMOPT_MAXCONNECTS, Self.kept)
    }

    deinit {
        _ = unsafe curl_multi_cleanup(raw)
    }

    var waker: Waker { unsafe Waker(raw: raw) }

    borrowing func add(_ easy: EasyHandle) -> CURLMcode { unsafe curl_multi_add_handle(raw, easy.raw) }

    /// Ends a running transfer. The connection is kept if no response data is left on it.
    borrowing func remove(_ easy: EasyHandle) {
        _ = unsafe curl_multi_remove_handle(raw, easy.raw)
    }

    /// Does all work that needs no waiting.
    borrowing func perform() {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(raw, &running)
    }

    /// Waits for work and returns the number of ready sockets.
    borrowing func poll(milliseconds: Int32) -> Int32 {
        var ready: Int32 = 0
        _ = unsafe curl_multi_poll(raw, nil, 0, milliseconds, &ready)
        return ready
    }

    /// The next finished transfer, as the pointer set with `CURLOPT_PRIVATE`.
    borrowing func nextFinished() -> (context: UnsafeMutableRawPointer, code: CURLcode)? {
        var easy: UnsafeMutableRawPointer?
        var code = CURLE_OK
        while unsafe httpclient_next_finished(raw, &easy, &code) == 1 {
            if let easy = unsafe easy, let context = unsafe httpclient_get_pointer(easy, CURLINFO_PRIVATE) {
                return unsafe (context, code)
            }
        }
        return nil
    }

    /// Wakes the thread that owns the handle, from any thread.
    @safe struct Waker: @unchecked Sendable {
        // Safe to share: libcurl documents curl_multi_wakeup as callable from any thread. The owner of a waker must
        // ensure that the multi handle still exists.
        private let raw: UnsafeMutableRawPointer

        fileprivate init(raw: UnsafeMutableRawPointer) {
            unsafe self.raw = unsafe raw
        }

        func wake() {
            _ = unsafe curl_multi_wakeup(raw)
        }
    }
}
