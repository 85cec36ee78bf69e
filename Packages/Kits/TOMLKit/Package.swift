// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "TOMLKit",
    products: [.library(name: "TOMLKit", targets: ["TOMLKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../ProcessKit")],
    targets: [
        .target(name: "TOMLKit", dependencies: [.product(name: "Core", package: "Core")]),
        .testTarget(
            name: "TOMLKitTests",
            dependencies: [
                "TOMLKit", .product(name: "Core", package: "Core"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
