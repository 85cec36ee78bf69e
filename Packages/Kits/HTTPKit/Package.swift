// swift-tools-version: 6.2
import PackageDescription

/// What tests use of the packages below.
let kits: [Target.Dependency] = [
    .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
    .product(name: "TestTraits", package: "Core"),
    .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
    .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
]

let package = Package(
    name: "HTTPKit",
    products: [
        .library(name: "HTTPKit", targets: ["HTTPCore", "HTTPClient"]),
        .library(name: "HTTPServer", targets: ["HTTPCore", "HTTPServer"]),
        .library(name: "HTTPTesting", targets: ["HTTPTesting"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../Cryptography"), .package(path: "../FileKit"),
        .package(path: "../LoopKit"), .package(path: "../ProcessKit"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // Only the headers of libcurl are needed here; the library is opened when it is first used.
        .target(name: "CHTTPClient"),
        .target(
            name: "HTTPCore",
            dependencies: [
                "CZlib", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"),
            ]),
        .target(
            name: "HTTPClient",
            dependencies: [
                "CHTTPClient", "HTTPCore", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .target(
            name: "HTTPServer",
            dependencies: [
                "HTTPCore", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .target(
            name: "HTTPTesting",
            dependencies: [
                "HTTPCore", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .testTarget(name: "HTTPCoreTests", dependencies: ["HTTPCore", "HTTPTesting"] + kits),
        .testTarget(name: "HTTPClientTests", dependencies: ["HTTPCore", "HTTPClient", "HTTPTesting"] + kits),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPCore", "HTTPServer", "HTTPClient", "HTTPTesting"] + kits),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
