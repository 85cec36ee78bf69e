/// Paths that lead out of a playground, in many forms.
struct WaysOut {
    /// To the folder next to it.
    let ways: [String]
    /// To the files in it.
    let forms: [String]

    init(_ place: Playground, open descriptor: Int32) throws {
        try place.write("a/b/c.txt", "inside")
        try place.link("absolute", to: "\(place.base)/outside")
        try place.link("relative", to: "../outside")
        try place.link("a/deep", to: "../../outside")
        try place.link("one", to: "two")
        try place.link("two", to: "a/three")
        try place.link("a/three", to: "../relative")
        try place.link("root", to: "/")
        try place.link("process", to: "/proc/self/cwd")
        try place.link("file", to: "../outside/secret.txt")
        try place.link("roundabout", to: "a/../../outside")
        try place.link("descriptor", to: "/proc/self/fd/\(descriptor)")

        let outside = "\(place.base.dropFirst())/outside"
        var ways = [
            "../outside", "a/../../outside", "./../outside", "a//..//..//outside", "a/b/../../../outside",
            "../work/../outside", "..//outside", "a/./../../outside", "\(place.base)/outside", "//\(outside)",
            "/proc/self/fd/\(descriptor)", "/proc/self/root/\(outside)", "/proc/self/cwd/../../../../../../\(outside)",
            "absolute", "relative", "a/deep", "one", "two", "a/three", "root/\(outside)", "descriptor",
            "roundabout",
            "a/../relative", "a/b/../deep", "one/../outside", "process/../../../../../\(outside)",
        ]
        // Forms that a decoder, another system or a careless comparison would treat as equal.
        ways += [
            "..\\outside", "%2e%2e/outside", "..%2foutside", "．．/outside", "․․/outside", "‥/outside", "..／outside",
            "..\u{2215}outside", "\u{202E}../outside", ".\u{200B}./outside", "..;/outside", "~/../outside",
            "..\u{0}/outside", "\u{FEFF}../outside", "...//outside", " ../outside", "../outside ", "..\n/outside",
            "file://\(place.base)/outside", "$(pwd)/../outside", "`..`/outside", "a/b/c.txt/../../../../outside",
        ]
        var forms: [String] = ["file", "\(place.base)/outside/secret.txt\u{0}", "a/b/c.txt\u{0}/../../../outside"]
        for way in ways {
            forms += ["\(way)/secret.txt", "\(way)/folder/secret.txt", "\(way)/folder/../secret.txt"]
        }
        (self.ways, self.forms) = (ways, forms)
    }
}
