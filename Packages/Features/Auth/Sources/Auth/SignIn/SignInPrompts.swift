import AuthSignIn
import Capabilities
import HTTPClient
import Registry

extension ActionContext {
    /// Shows the address to sign in at, and opens it in a browser if there is one.
    func showSignIn(at url: HTTPURL, _ browser: Browser) async throws {
        // The browser sends a request to this address, so the caller must be allowed to reach it.
        try caller.grant.check(.host(url.host, port: url.port))
        notice("Open this address in your browser to sign in:\n  \(PlainText.escape(url.text))")
        if browser.isAvailable, await browser.open(url) { notice("Your browser should open it now.") }
        progress("waiting for you to sign in")
    }

    /// Shows the code to sign in with on another device.
    func showSignIn(with code: DeviceCode) {
        let address = (code.completeURI ?? code.verificationURI).text
        notice("On any device, open\n  \(PlainText.escape(address))\nand enter the code \(code.userCode)")
        progress("waiting for you to sign in")
    }
}
