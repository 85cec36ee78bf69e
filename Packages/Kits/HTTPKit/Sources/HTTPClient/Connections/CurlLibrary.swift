import CHTTPClient
import HTTPCore
import LoopKit

/// libcurl, which is opened when it is first used: a program that sends nothing starts in half the time without it and
/// the thirty libraries below it.
///
/// Everything that owns one of libcurl's handles calls `require` before it makes one.
enum CurlLibrary {
    /// The oldest that has all the options that are set here.
    static let oldest = (number: UInt32(0x07_55_00), name: "7.85.0")

    private static let problem = openedProblem()

    /// Why this process cannot use libcurl, or nil; opens it when called for the first time, on whichever thread.
    private static func openedProblem() -> String? {
        if let reason = reason(against: unsafe String(cString: httpclient_library())) { return reason }
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { return "out of memory" }
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "it does not report its version" }
        return unsafe reason(againstVersion: info.pointee.version_num, named: String(cString: info.pointee.version))
    }

    /// Opens a library as libcurl; the reason when that cannot be.
    static func reason(against path: String) -> String? {
        unsafe httpclient_open(path).map { unsafe String(cString: $0) }
    }

    static func reason(againstVersion number: UInt32, named name: String) -> String? {
        number >= oldest.number ? nil : "it is version \(name)"
    }

    /// Opens libcurl unless that was done, and throws when it cannot be used.
    static func require() throws(HTTPError) {
        guard let problem else { return }
        throw HTTPError(
            .invalid,
            "libcurl cannot be used: \(problem); install \(oldest.name) or newer (Debian: apt install libcurl4)",
            mayHaveBeenSent: false)
    }

    /// Begins to load libcurl on a thread of its own. What is wrong with it is told by who uses it.
    static func load() {
        do { _ = try OwnThread { httpclient_load() } } catch {
            // Without a thread it is loaded when it is first used.
        }
    }

    /// Whether libcurl can be used; opens it like `require`.
    static var isUsable: Bool { problem == nil }

    /// What makes its TLS connections: `OpenSSL/3.0.19`.
    static let tls: String =
        isUsable
        ? unsafe curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version.map { unsafe String(cString: $0) } ?? "" : ""

    /// Whether our verification can work inside of it: what it is handed must be a context of OpenSSL. One that is built
    /// for several puts those that it does not use in parentheses.
    static func canVerify(_ tls: String) -> Bool {
        tls.split(separator: " ").contains { $0.hasPrefix("OpenSSL/") }
    }
}
