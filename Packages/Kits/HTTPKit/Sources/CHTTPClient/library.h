// The functions of libcurl that have names of ours: what the first three take cannot be passed on, and the type of the
// last is not the same in all versions.
#pragma once

#include "CHTTPClient.h"

extern struct httpclient_functions {
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    __typeof__(curl_url_get) *url_get;
} httpclient_functions;
