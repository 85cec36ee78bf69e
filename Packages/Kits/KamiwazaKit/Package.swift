// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "KamiwazaKit",
    products: [
        .library(name: "KamiwazaKit", targets: ["KamiwazaKit"]),
        .library(name: "KamiwazaTesting", targets: ["KamiwazaTesting"]),
    ],
    dependencies: [.package(path: "../../Core"), .package(path: "../Cryptography"), .package(path: "../HTTPKit")],
    targets: [
        .target(
            name: "KamiwazaKit",
            dependencies: [.product(name: "Core", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit")]),
        .target(
            name: "KamiwazaTesting",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
            ]),
        .testTarget(
            name: "KamiwazaKitTests",
            dependencies: [
                "KamiwazaKit", "KamiwazaTesting", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "HTTPTesting", package: "HTTPKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
