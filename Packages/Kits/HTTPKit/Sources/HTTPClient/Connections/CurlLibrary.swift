import CHTTPClient
import HTTPCore
import LoopKit

/// Opens libcurl on first use. A program that sends nothing starts in half the time without it and its thirty
/// dependencies.
///
/// Every owner of a libcurl handle calls `require` before it creates one.
enum CurlLibrary {
    /// The oldest version that has all options used here.
    static let oldest = (number: UInt32(0x07_55_00), name: "7.85.0")

    private static let problem = openedProblem()

    /// Why this process cannot use libcurl, or nil. The first call opens it, on any thread.
    private static func openedProblem() -> String? {
        if let reason = reason(against: unsafe String(cString: httpclient_library())) { return reason }
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { return "out of memory" }
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "it does not report its version" }
        return unsafe reason(againstVersion: info.pointee.version_num, named: String(cString: info.pointee.version))
    }

    /// Opens a library as libcurl; returns the reason if that fails.
    static func reason(against path: String) -> String? {
        unsafe httpclient_open(path).map { unsafe String(cString: $0) }
    }

    static func reason(againstVersion number: UInt32, named name: String) -> String? {
        number >= oldest.number ? nil : "it is version \(name)"
    }

    /// Opens libcurl if it is not open yet, and throws when it cannot be used.
    static func require() throws(HTTPError) {
        guard let problem else { return }
        throw HTTPError(
            .invalid,
            "libcurl cannot be used: \(problem); install \(oldest.name) or newer (Debian: apt install libcurl4)",
            mayHaveBeenSent: false)
    }

    /// Starts loading libcurl on a separate thread. Problems are reported on use.
    static func load() {
        do { _ = try OwnThread { httpclient_load() } } catch {
            // Without a thread, libcurl is loaded on first use.
        }
    }

    /// Whether libcurl can be used. Opens it like `require`.
    static var isUsable: Bool { problem == nil }

    /// The TLS library of libcurl: `OpenSSL/3.0.19`.
    static let tls: String =
        isUsable
        ? unsafe curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version.map { unsafe String(cString: $0) } ?? "" : ""

    /// Whether our verification works with it: libcurl must pass an OpenSSL context. A libcurl built for several
    /// libraries puts the unused ones in parentheses.
    static func canVerify(_ tls: String) -> Bool {
        tls.split(separator: " ").contains { $0.hasPrefix("OpenSSL/") }
    }
}
