import Testing

/// A file that makes a tree break a rule, and what the guard says to it.
struct Arrow: CustomTestStringConvertible {
    let path: String
    let text: String
    let violation: String
    var testDescription: String { violation }

    /// A manifest with one more dependency.
    private static func manifest(_ folder: String, on path: String, _ violation: String) -> Arrow {
        let name = String(folder.split(separator: "/").last ?? "")
        let text = Tree.manifest(name, (Tree.dependencies[name] ?? []) + [path])
        return Arrow(path: "\(folder)/Package.swift", text: text, violation: "\(folder) \(violation)")
    }

    /// A source file with an import.
    private static func source(_ path: String, _ line: String, _ violation: String) -> Arrow {
        Arrow(path: path, text: line + "\n", violation: "\(path) \(violation)")
    }

    static let forbidden: [Arrow] = [
        manifest("Packages/Features/Chat", on: "../Files", "must not depend on Packages/Features/Files"),
        manifest("Packages/Features/Chat", on: "../../Frontends/Shell", "must not depend on Packages/Frontends/Shell"),
        manifest("Packages/Frontends/Shell", on: "../../Features/Chat", "must not depend on Packages/Features/Chat"),
        manifest("Packages/Kits/MailKit", on: "../../Features/Chat", "must not depend on Packages/Features/Chat"),
        manifest("Packages/Kits/MailKit", on: "../../Frontends/Shell", "must not depend on Packages/Frontends/Shell"),
        manifest("Packages/Kits/MailKit", on: "../../Frontends/Host", "must not depend on Packages/Frontends/Host"),
        source("Packages/Kits/MailKit/Tests/MailKitTests/A.swift", "import Host", "must not import Host"),
        manifest("Packages/Features/Chat", on: "../../..", "depends on '', which is no package of a layer"),
        Arrow(
            path: "Packages/Core/Package.swift", text: Tree.core(["../Kits/MailKit"]),
            violation: "Packages/Core must not depend on Packages/Kits/MailKit"),
        Arrow(
            path: "Packages/Features/Files/Package.swift",
            text: #".package(url: "https://example.com/a.git", from: "1.0.0") .target(name: "Files")"#,
            violation: "Packages/Features/Files depends on a package from outside"),
        Arrow(
            path: "Packages/Extras/Odd/Package.swift", text: #".target(name: "Odd")"#,
            violation: "Packages/Extras/Odd is in no layer"),
        source("Packages/Features/Chat/Sources/Chat/A.swift", "import Files", "must not import Files"),
        source("Packages/Features/Chat/Tests/ChatTests/A.swift", "@testable import Files", "must not import Files"),
        source("Packages/Features/Chat/Sources/Chat/A.swift", "public import Shell", "must not import Shell"),
        source("Packages/Features/Chat/Sources/Chat/A.swift", "import Host", "must not import Host"),
        source("Packages/Features/Chat/Tests/ChatTests/A.swift", "import Shell", "must not import Shell"),
        source("Packages/Frontends/Shell/Sources/Shell/A.swift", "import Chat", "must not import Chat"),
        source("Packages/Kits/MailKit/Sources/MailKit/A.swift", "import Chat", "must not import Chat"),
        source("Packages/Core/Sources/Registry/A.swift", "import MailKit", "must not import MailKit"),
        source(
            "Packages/Features/Files/Sources/Files/A.swift", "import MailKit",
            "imports MailKit without depending on Packages/Kits/MailKit"),
        source("Packages/Core/Sources/JSON/A.swift", "import Capabilities", "imports Capabilities, which is above it"),
        source("Packages/Core/Sources/Capabilities/A.swift", "import Settings", "imports Settings, which is above it"),
        source("Packages/Core/Sources/Settings/A.swift", "import Registry", "imports Registry, which is above it"),
        source("Packages/Core/Sources/JSON/A.swift", "import FoundationEssentials", "imports FoundationEssentials"),
        source("Packages/Features/Chat/Sources/Chat/A.swift", "import struct Foundation.Date", "imports Foundation"),
        source("Apps/martlet/main.swift", "import FoundationNetworking", "imports FoundationNetworking"),
        source("Apps/martlet/main.swift", "import CMail", "imports CMail, which belongs to Packages/Kits/MailKit"),
        source(
            "Packages/Features/Chat/Sources/Chat/A.swift", "import CMail",
            "imports CMail, which belongs to Packages/Kits/MailKit"),
        Arrow(
            path: "Packages/Kits/PostKit/Sources/CPost/module.modulemap", text: #"module CPost { link "mail" }"#,
            violation: "libmail has more than one owner: Packages/Kits/MailKit, Packages/Kits/PostKit"),
    ]
}
