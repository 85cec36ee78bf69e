import Cryptography
import HTTPCore
import HTTPServer

/// The small pages that the browser shows. They load nothing, can be framed by nobody and are kept by nobody.
struct Page: Sendable {
    private let text: String
    private let script: String?
    private let status: HTTPStatus

    private init(_ text: String, script: String? = nil, status: HTTPStatus = .ok) {
        (self.text, self.script, self.status) = (text, script, status)
    }

    static let done = Page("You are signed in. You can close this window.", script: cleaning)
    static let declined = Page(
        "You are not signed in; the terminal says why. You can close this window.", script: cleaning)
    static let stranger = Page(
        "This is not the answer that was waited for. Start the sign-in again from the terminal.",
        status: .badRequest)
    static let over = Page("This sign-in is over already. You can close this window.", status: HTTPStatus(410))
    /// Sends what only the browser can see to this receiver, as a form.
    static let fragment = Page("The answer of the server is empty; start the sign-in again.", script: forwarding)

    /// Takes codes and tokens out of the address, so that the history of the browser does not keep them.
    private static let cleaning = "history.replaceState(null,'',location.pathname)"

    private static let forwarding = """
        const sent=[location.search.slice(1),location.hash.slice(1)].filter(Boolean).join('&');\
        if(location.hash.length>1){\
        history.replaceState(null,'',location.pathname);\
        fetch(location.pathname,{method:'POST',body:new URLSearchParams(sent)})\
        .then(answer=>answer.text()).then(text=>{document.body.textContent=text})}
        """

    /// The page for a browser.
    var html: HTTPAnswer {
        let program = script.map { "<script>\($0)</script>" } ?? ""
        let document = """
            <!doctype html><html lang="en"><head><meta charset="utf-8"><title>Martlet</title></head>\
            <body><p>\(text)</p>\(program)</body></html>
            """
        return guarded(.bytes(Array(document.utf8), type: "text/html; charset=utf-8", status: status))
    }

    /// Only the words, for the script that has posted what it saw.
    var words: HTTPAnswer { guarded(.text(text, status: status)) }

    private func guarded(_ answer: HTTPAnswer) -> HTTPAnswer {
        var rules = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        if let script {
            rules += "; script-src 'sha256-\(Base64.encode(Digest.sha256(Array(script.utf8))))'; connect-src 'self'"
        }
        return
            answer
            .header("Content-Security-Policy", rules)
            .header("Cache-Control", "no-store")
            .header("Referrer-Policy", "no-referrer")
            .header("X-Content-Type-Options", "nosniff")
            .header("X-Frame-Options", "DENY")
    }
}
