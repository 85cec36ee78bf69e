import Capabilities
import FileKit

/// The keys for which letters stand in tables. Only the host's own, `A`, is made for the tests.
struct TestKeys: Sendable {
    private let texts: [String: String]

    /// - Parameter own: the type and the key of the host.
    init(own: String) {
        var texts = [
            "B": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJRFYrfUKWucrdEnqpIRo5vlxVyeaSVt8AHA1nKmofRh",
            "C":
                "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBM5ZTGIp5haAnhS73ca+5lbhL0aToPUIC"
                + "145nMdLok1za26Ym2F4dKSe0LhXoN6uZxm3p2UpB9oMpBDlPYlIlQM=",
            "D":
                "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBE7iB2SWsRGQu1ViVE7F4+4Gn7DWWdEGE"
                + "iudS83cwovrA64uxtvtyvwC2LJ+vtblb34fbxbBvLRKrXbt571t7hPEdL1HnQ6Xiu2k+YgQ6XOmUG3BXRr/wKSTg5+ypBZVXA==",
            "E":
                "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBADlBxRj5+8llIyCjMMICVmr96WKcL9Mv"
                + "AxKpSkrg2dsvH1LblbpRqUk818Zchjtq7JTpDvL4Bgd79esqG0XAEZ5vAF2vnSJECMzEakfXdtYo61XMBJlbzKhHGcL2/AKHrDjiaya"
                + "/hWGbflsNb4JEAUBvcem+trNH04F+ChEQPT44XGVDQ==",
            "F":
                "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC5hK/dUPQRRlyKpgqhAmLDWOvTeWQjdu8jH/odLdYJkN6DxLQa4tde6hRPXLJuuYlvF"
                + "iQYgYfRsJGCcDzEl8ZBm8eAnHXrFu3YZjRy8c+G0pQq9TMJeOOV/NuavU2n5pcYOnfyJYmtbi7UhY/kjN3XnydDknZDnmFEjiVRulrR"
                + "Qw==",
            "G":
                "ssh-dss AAAAB3NzaC1kc3MAAACBAPT9CUqEZuAsK1qVBLzVCN1yQijeanvlJwUA4dPYAjnyVPXgXqvP5N61JSpH+VeEJI35W66l6RBNh"
                + "wDqgYlPbuF9dYRG88yp1Yi5kKgkhUovBqObadBN/JGhSmJLLrDVejB2Fh1/uOLiMf6XuZ1JgXCgr5b4pg2Bwzb1adp3oNUTAAAAFQCv"
                + "7XBJ4qNXoNXY0Lhv2n1jCvKLMQAAAIAiyGg9UFzKi55hpdrtGUmg4Pg4lNuZa0D0Ysh3l7C3TDR5DNYr7gM+6PqlG1saKZqArIxTeQe"
                + "O4sBYBEGjz5NTL6OacKbE02p2CGsIQFQYyn1w4kuuaZsoGeoTPHvIvP39arxW9EUV7TeoNSA9ktPQJplB9kQ9ox/+Bo0JOyLwGQAAAI"
                + "B925aJLAYHfXA1ohTJaEyxzIhZaY5F18wallDZSj1FDCncZjD7PoyB0F3EcIwuGLkiZ/x+Kpc2NLGvkYAfGvSDOMHG4lRLTLLb2FYEv"
                + "41pS8t9UX5rrVkh0T0pkSh5ZPOnms+zfl8pzcfsegFBsLI4OJHBOU0HFdLvSlTYHl9aPA==",
            "X":
                "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIEXD8MBqdAsl3qOyvDjd"
                + "XnAGq5uJxf7vk1uL5I1P+PRuAAAAIJRFYrfUKWucrdEnqpIRo5vlxVyeaSVt8AHA1nKmofRhAAAAAAAAAAAAAAACAAAAAmlkAAAAEwA"
                + "AAA93ZWIuZXhhbXBsZS5jb20AAAAAAAAAAP//////////AAAAAAAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACBigQraiywyIf"
                + "Gl+BtdwBIv0u0VtAnLYI7ARe0Z8OSdBQAAAFMAAAALc3NoLWVkMjU1MTkAAABAaCMqDxQjM9ERyESIjPOyGTWlU20t0LKiJLAs4qdCG"
                + "tf5KK/L8j1hFINzkc93zo/helwkVx1bX5lXrAt9FyjYDg==",
            // Hashes of names, by ssh-keygen -H.
            "web": "|1|Xc+OKIhHM1Vc9K0i5uxA0AS7d78=|N5K1WwA3E9OjRna5y3tPmI9xDQ8=",
            "port": "|1|xEMts5JuJKFggq0oHLOXGQkCOcY=|gU57w83ht8u+7yd9FFJublTPMj4=",
            "10.0.0.7": "|1|JUNeD6Yb6RJI+DWwaReIQ1vvxL8=|aDTB2ugjVo8g46QvfjtAQdT2ifo=",
        ]
        texts["A"] = own
        let point = Array("\0\0\0\u{13}ecdsa-sha2-nistp256\0\0\0\u{8}nistp256\0\0\0A\u{4}".utf8)
        texts["P"] = "ecdsa-sha2-nistp256 " + Base64.encode(point + [UInt8](repeating: 7, count: 64))
        self.texts = texts
    }

    /// The type and the key of a letter.
    subscript(letter: String) -> String { texts[letter] ?? "" }

    /// A text with what its letters stand for.
    func filled(_ text: String) -> String {
        var filled = text.replacing("web ", with: "web.example.com ").replacing("[web]", with: "[web.example.com]")
        for name in ["!web,", "!web ", "web,", "web\0", "web\n", "web\t", "'web'", "\"web\""] {
            filled = filled.replacing(name, with: name.replacing("web", with: "web.example.com"))
        }
        for (letter, value) in texts {
            filled = filled.replacing("{\(letter)}", with: value)
            let key = value.split(separator: " ").last.map(String.init) ?? ""
            filled = filled.replacing("{\(letter.lowercased())}", with: key)
        }
        return filled
    }
}
