/// Files of known hosts, a host, and what is to be said about the key that it has.
///
/// `{A}` stands for the key of the host with its type, `{a}` for the key alone; the other letters stand for keys that it
/// does not have. `web` stands for `web.example.com`.
struct KnownHostsCase: Sendable {
    /// The expected verdict and its line.
    enum Verdict: Sendable, Hashable {
        case known(Int), unknown, changed(Int), otherTypes(Int), revoked(Int)
    }

    let text: String
    let expected: Verdict
    var host = "web.example.com"
    var port = 22
    var alias: String?
    /// The text of the system's file, which then has the line of the verdict.
    var global: String?
    /// What ssh says, if it is less strict.
    var theirs: Verdict?
    /// The line that ssh names of several that differ.
    var offending: Int?

    init(_ text: String, _ expected: Verdict) {
        (self.text, self.expected) = (text, expected)
    }

    private func with(_ change: (inout KnownHostsCase) -> Void) -> KnownHostsCase {
        var copy = self
        change(&copy)
        return copy
    }

    private func port(_ port: Int) -> KnownHostsCase { with { $0.port = port } }
    private func alias(_ alias: String) -> KnownHostsCase { with { $0.alias = alias } }
    private func host(_ host: String) -> KnownHostsCase { with { $0.host = host } }
    private func global(_ text: String) -> KnownHostsCase { with { $0.global = text } }
    /// ssh ignores a line that we obey.
    private func stricter(than verdict: Verdict) -> KnownHostsCase { with { $0.theirs = verdict } }
    private func offending(_ line: Int) -> KnownHostsCase { with { $0.offending = line } }

    /// Those where it matters what follows from the lines, which only ssh tells.
    static let judged = keys + markers + hashes + ports + several
    /// Those where it matters which lines are about the host.
    static let found = names + damaged

    private static let names = [
        KnownHostsCase("", .unknown),
        KnownHostsCase("web {A}\n", .known(1)),
        KnownHostsCase("web {A}", .known(1)),
        KnownHostsCase("web {A}\r\n", .known(1)),
        KnownHostsCase("other {B}\r\nweb {A} me@here\r\n", .known(2)),
        KnownHostsCase("# a comment\n\n \t\nweb {A} me@here\n", .known(4)),
        KnownHostsCase(" \tweb\t  {A}\tcomment\n", .known(1)),
        KnownHostsCase("WEB.Example.COM {A}\n", .known(1)),
        KnownHostsCase("other,web,10.0.0.7 {A}\n", .known(1)),
        KnownHostsCase(",web, {A}\n", .known(1)),
        KnownHostsCase("other {A}\nweb.example.com.org {A}\n", .unknown),
        KnownHostsCase("*.example.com {A}\n", .known(1)),
        KnownHostsCase("w?b.*.c?m {A}\n", .known(1)),
        KnownHostsCase("*.example.org,?eb {A}\n", .unknown),
        KnownHostsCase("*.example.com,!web {A}\n", .unknown),
        KnownHostsCase("!web,*.example.com {A}\n", .unknown),
        KnownHostsCase("!other,*.example.com {A}\n", .known(1)),
        KnownHostsCase("!other {A}\n", .unknown),
        KnownHostsCase("#web {A}\n", .unknown),
        KnownHostsCase("10.0.0.? {A}\n", .known(1)).host("10.0.0.7"),
        KnownHostsCase("2001:db8::1 {A}\n", .known(1)).host("2001:db8::1"),
        KnownHostsCase(String(repeating: "some.other.name,", count: 5_000) + "web {A}\n", .known(1)),
        KnownHostsCase("web," + String(repeating: "x", count: 1_022) + " {A}\n", .known(1)),
        KnownHostsCase("web," + String(repeating: "x", count: 1_023) + " {A}\n", .unknown),
    ]

    private static let keys = [
        KnownHostsCase("web {B}\n", .changed(1)),
        KnownHostsCase("web {B}\nweb {A}\n", .known(2)),
        KnownHostsCase("web {A}\nweb {B}\n", .known(1)),
        KnownHostsCase("web {C}\n", .otherTypes(1)),
        KnownHostsCase("web {D}\nweb {E}\nweb {F}\n", .otherTypes(3)),
        KnownHostsCase("web {C}\nweb {B}\nweb {F}\n", .changed(2)).offending(3),
        KnownHostsCase("web {G}\n", .otherTypes(1)),
        KnownHostsCase("web rsa-sha2-512 {f}\n", .otherTypes(1)),
        // A certificate is not the key of a host.
        KnownHostsCase("web {X}\n", .otherTypes(1)),
    ]

    private static let markers = [
        KnownHostsCase("@revoked web {A}\n", .revoked(1)),
        KnownHostsCase("web {A}\n@revoked web {A}\n", .revoked(2)),
        KnownHostsCase("@revoked * {A}\nweb {A}\n", .revoked(1)),
        KnownHostsCase("@revoked web {B}\nweb {A}\n", .known(2)),
        KnownHostsCase("@revoked other {A}\nweb {A}\n", .known(2)),
        KnownHostsCase("@revoked web {B}\n", .unknown),
        KnownHostsCase("@revoked web {B}\nweb {C}\n", .otherTypes(2)),
        KnownHostsCase("@revoked \t web {A}\n", .revoked(1)),
        KnownHostsCase("@revoked\tweb {A}\n", .revoked(1)).stricter(than: .unknown),
        KnownHostsCase("@Revoked web {A}\n", .unknown),
        KnownHostsCase("@revoked\nweb {A}\n@\n@ web {A}\n", .known(2)),
        KnownHostsCase("@revoked @cert-authority web {A}\n", .unknown),
        KnownHostsCase("@something web {A}\n", .unknown),
        KnownHostsCase("@cert-authority *.example.com {B}\n", .unknown),
        KnownHostsCase("@cert-authority web {A}\n", .unknown),
        KnownHostsCase("@cert-authority web {B}\nweb {A}\n", .known(2)),
        KnownHostsCase("@cert-authority web {B}\nweb {C}\n", .otherTypes(2)),
    ]

    private static let hashes = [
        KnownHostsCase("{web} {A}\n", .known(1)),
        KnownHostsCase("{web} {A} comment\r\n{10.0.0.7} {B}", .known(1)),
        KnownHostsCase("{10.0.0.7} {A}\n", .unknown),
        KnownHostsCase("{10.0.0.7} {A}\n", .known(1)).host("10.0.0.7"),
        KnownHostsCase("{web} {B}\n", .changed(1)),
        KnownHostsCase("@revoked {web} {A}\nweb {A}\n", .revoked(1)),
        KnownHostsCase("|1|xx|N5K1WwA3E9OjRna5y3tPmI9xDQ8= {B}\nweb {A}\n", .known(2)),
        KnownHostsCase("|2|Xc+OKIhHM1Vc9K0i5uxA0AS7d78=|N5K1WwA3E9OjRna5y3tPmI9xDQ8= {A}\n", .unknown),
        KnownHostsCase("|1|Xc+OKIhHM1Vc9K0i5uxA0AS7d78=|N5K1WwA3E9OjRna5y3tPmI9xDQ8 {A}\n", .unknown),
        KnownHostsCase("{web},{10.0.0.7} {A}\n", .unknown),
        KnownHostsCase("!{web} {A}\n", .unknown),
        KnownHostsCase("| {A}\n|1 {A}\n|1||| {A}\n", .unknown),
    ]

    private static let ports = [
        KnownHostsCase("[web]:2222 {A}\n", .known(1)).port(2222),
        KnownHostsCase("[WEB.example.com]:2222 {B}\n", .changed(1)).port(2222),
        KnownHostsCase("web {A}\n", .known(1)).port(2222),
        KnownHostsCase("web {B}\n", .unknown).port(2222),
        KnownHostsCase("web {C}\n", .unknown).port(2222),
        KnownHostsCase("[web]:2222 {B}\nweb {A}\n", .changed(1)).port(2222),
        KnownHostsCase("[web]:22 {A}\n", .unknown),
        KnownHostsCase("[web]:2222 {A}\n", .unknown),
        KnownHostsCase("[web]:2223 {A}\n", .unknown).port(2222),
        KnownHostsCase("{port} {A}\n", .known(1)).port(2222),
        KnownHostsCase("{port} {A}\n", .unknown),
        KnownHostsCase("{web} {A}\n", .known(1)).port(2222),
        KnownHostsCase("[*.example.com]:2222 {A}\n", .known(1)).port(2222),
        KnownHostsCase("[*]:* {A}\n", .known(1)).port(2222),
        KnownHostsCase("* {B}\n", .changed(1)).port(2222),
        KnownHostsCase("*.example.com {B}\n", .unknown).port(2222),
        KnownHostsCase("@revoked [web]:2222 {A}\nweb {A}\n", .revoked(1)).port(2222),
        // ssh warns, and then treats it as unknown.
        KnownHostsCase("@revoked web {A}\n", .revoked(1)).port(2222),
        KnownHostsCase("@revoked web {A}\n[web]:2222 {A}\n", .revoked(1)).port(2222).stricter(than: .known(2)),
        KnownHostsCase("[2001:db8::1]:2222 {A}\n", .known(1)).host("2001:db8::1").port(2222),
        KnownHostsCase("alias {A}\n", .known(1)).alias("Alias"),
        KnownHostsCase("alias {A}\n", .known(1)).alias("alias").port(2222),
        KnownHostsCase("[alias]:2222 {A}\nweb {A}\n[web]:2222 {A}\n", .unknown).alias("alias").port(2222),
    ]

    private static let damaged = [
        KnownHostsCase("web\n", .unknown),
        KnownHostsCase("web \n", .unknown),
        KnownHostsCase("web ssh-ed25519\n", .unknown),
        KnownHostsCase("web ssh-ed25519 \n", .unknown),
        KnownHostsCase("web # {A}\n", .unknown),
        KnownHostsCase("web ssh-ed25519 AAAA\n", .unknown),
        KnownHostsCase("web ssh-ed25519 {c}\n", .unknown),
        KnownHostsCase("web ssh-rsa {a}\n", .unknown),
        KnownHostsCase("web ecdsa-sha2-nistp384 {c}\n", .unknown),
        KnownHostsCase("web ssh-foo {a}\n", .unknown),
        KnownHostsCase("web ED25519 {a}\n", .unknown),
        KnownHostsCase("web {A}=\n", .unknown),
        KnownHostsCase("web {A}AAAA\n", .unknown),
        KnownHostsCase("web {A}!\n", .unknown),
        KnownHostsCase("web 1024 35 123456789\n", .unknown),
        KnownHostsCase("\u{1}\u{7F}\u{FFFD} ~~~\n{}\n\"web\" {A}\n'web' {A}\n", .unknown),
        KnownHostsCase("web ssh-ed25519 AAAA\nweb {A}\n", .known(2)),
        KnownHostsCase("@revoked web ssh-ed25519 AAAA\nweb {A}\n", .known(2)),
        KnownHostsCase("web {A}\0 rest\n", .known(1)),
        KnownHostsCase("web\0 {A}\n\0\nweb {B}\n", .known(1)),
        // The point is not on the curve. ssh ignores the line.
        KnownHostsCase("web {P}\n", .otherTypes(1)).stricter(than: .unknown),
    ]

    private static let several = [
        KnownHostsCase("", .known(1)).global("web {A}\n"),
        KnownHostsCase("web {B}\n", .known(2)).global("#\nweb {A}\n"),
        KnownHostsCase("web {A}\n", .revoked(1)).global("@revoked web {A}\n"),
        KnownHostsCase("other {A}\n", .changed(1)).global("web {B}\n"),
        KnownHostsCase("web {C}", .otherTypes(2)).global("\nweb {F}\n"),
    ]
}
