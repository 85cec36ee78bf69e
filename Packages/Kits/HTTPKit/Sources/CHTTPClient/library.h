// libcurl functions without a forwarding function: the variable arguments of the first three cannot be forwarded, and
// the type of the last differs between versions.
#pragma once

#include "CHTTPClient.h"

extern struct httpclient_functions {
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    __typeof__(curl_url_get) *url_get;
} httpclient_functions;
