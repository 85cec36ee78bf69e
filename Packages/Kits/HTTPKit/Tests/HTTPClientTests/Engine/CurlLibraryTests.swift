import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Loading of libcurl")
struct CurlLibraryTests {
    @Test("Parsing an address opens libcurl")
    func opened() throws {
        _ = try HTTPURL("http://127.0.0.1/")
        #expect(CurlLibrary.isUsable)
        #expect(try !HTTPClient.installedLibraryVersion().isEmpty)
    }

    @Test("A missing or unrelated library is refused as libcurl, and the open one stays")
    func refused() throws {
        #expect(CurlLibrary.isUsable)
        let missing = try #require(CurlLibrary.reason(against: "/nowhere/libcurl.so.4"))
        #expect(missing.contains("/nowhere/libcurl.so.4: cannot open shared object file"), "\(missing)")
        let another = try #require(CurlLibrary.reason(against: "libm.so.6"))
        #expect(another.hasPrefix("libm.so.6 has no curl_"), "\(another)")
        #expect(try HTTPURL("HTTP://Lab.Example").text == "http://lab.example/")
    }

    @Test("A libcurl without the required options is refused", arguments: [(0x07_54_00, false), (0x07_55_00, true)])
    func old(_ number: UInt32, _ isEnough: Bool) {
        #expect((CurlLibrary.reason(againstVersion: number, named: "7.x") == nil) == isEnough)
    }
}
