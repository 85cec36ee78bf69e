import CHTTPClient
import Glibc

/// The functions that libcurl calls, each with a job as its context. They stand in static members, because a closure
/// that is formed in isolated code would trap on the engine's thread.
extension Job {
    static let onBody: curl_write_callback = { start, size, count, context in
        guard let context = unsafe context else { return 0 }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
        return switch unsafe Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().receiveBody(bytes) {
        case .taken: bytes.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        // Anything but the count ends the transfer.
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
