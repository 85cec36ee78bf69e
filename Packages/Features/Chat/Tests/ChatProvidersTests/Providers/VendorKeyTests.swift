import HTTPClient
import Testing

@testable import ChatProviders

@Suite("Keys of vendors")
struct VendorKeyTests {
    @Test("The address of each vendor is one that its key may be sent to", arguments: [true, false])
    func addresses(usesResponses: Bool) throws {
        for vendor in Vendor.all(sendsAttribution: true, usesResponses: usesResponses) {
            let destination = CredentialDestination.key(of: vendor.key, beside: nil)
            let base = try HTTPURL(vendor.base)
            #expect(destination.allows(base), "\(vendor.id)")
        }
    }
}
