import HTTPClient
import Testing

@Suite("Addresses below a base")
struct BaseAddressTests {
    @Test(
        "a path is added to that of the base",
        arguments: [
            ("http://lab", "http://lab/models"), ("http://lab/", "http://lab/models"),
            ("http://lab/gw/v1/", "http://lab/gw/v1/models"), ("http://lab/v1?x=1", "http://lab/v1/models"),
        ])
    func below(base: String, address: String) throws {
        #expect(try HTTPURL(base).below("/models").text == address)
    }

    @Test(
        "the version is added unless it is there",
        arguments: [
            ("http://lab", "http://lab/v1"), ("http://lab/v1/", "http://lab/v1"), ("http://lab/gw", "http://lab/gw/v1"),
        ])
    func versioned(base: String, address: String) throws {
        #expect(try HTTPURL(base).versioned().text == address)
    }

    @Test("only an address without a path is completed for other servers")
    func bare() throws {
        #expect(try HTTPURL("http://lab").versionedIfBare().text == "http://lab/v1")
        #expect(try HTTPURL("http://lab/api/").versionedIfBare().text == "http://lab/api")
    }

    @Test("pairs of a query are escaped and added in order")
    func query() throws {
        let url = try HTTPURL("http://lab/a").adding("x", "1 & 2").adding("y", "é")
        #expect(url.text == "http://lab/a?x=1%20%26%202&y=%C3%A9")
    }
}
