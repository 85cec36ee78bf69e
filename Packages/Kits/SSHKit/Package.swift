// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SSHKit",
    products: [
        .library(name: "SSHCore", targets: ["SSHCore"]),
        .library(name: "SSHClient", targets: ["SSHCore", "SSHClient"]),
        .library(name: "SSHTesting", targets: ["SSHTesting"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../Cryptography"), .package(path: "../FileKit"),
        .package(path: "../LoopKit"), .package(path: "../ProcessKit"),
    ],
    targets: [
        // What needs no connection, and so no library of SSH.
        .target(
            name: "SSHCore",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"),
            ]),
        // Only the headers of libssh2 are needed here; the library is opened when it is first used.
        .target(name: "CSSHClient"),
        .target(
            name: "SSHClient",
            dependencies: [
                "CSSHClient", "SSHCore", .product(name: "Core", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        // A real server, for tests.
        .target(
            name: "SSHTesting",
            dependencies: [
                .product(name: "CoreTesting", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .testTarget(
            name: "SSHCoreTests",
            dependencies: [
                "SSHCore", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .testTarget(
            name: "SSHClientTests",
            dependencies: [
                "SSHClient", "SSHCore", "SSHTesting", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
