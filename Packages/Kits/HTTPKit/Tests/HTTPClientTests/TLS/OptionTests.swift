import CHTTPClient
import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Requirements of trust for libcurl")
struct OptionTests {
    @Test("An option that libcurl refuses is an error before anything is sent")
    func refused() throws {
        let easy = try EasyHandle()
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.checkOptions(server: "lab.example:443")
        easy.set(CURLoption(rawValue: 9_999), 1)
        #expect {
            try easy.checkOptions(server: "lab.example:443")
        } throws: { error in
            let error = error as? HTTPError
            return error?.kind == .tls && error?.mayHaveBeenSent == false
                && error?.message.contains("lab.example:443") == true
        }
        // A refused option of the last request does not affect the next one.
        #expect(easy.reset())
        try easy.checkOptions(server: "lab.example:443")
    }

    @Test(
        "Only a libcurl with OpenSSL supports our verification",
        arguments: [
            ("OpenSSL/3.0.19", true), ("(GnuTLS/3.7.9) OpenSSL/3.0.19", true), ("GnuTLS/3.7.9", false),
            ("GnuTLS/3.7.9 (OpenSSL/3.0.19)", false), ("wolfSSL/5.5.4", false), ("", false),
        ])
    func backends(_ tls: String, _ canVerify: Bool) {
        #expect(CurlLibrary.canVerify(tls) == canVerify)
    }

    @Test("The libcurl of this system supports our verification")
    func present() {
        #expect(CurlLibrary.canVerify(CurlLibrary.tls), "\(CurlLibrary.tls)")
    }
}
