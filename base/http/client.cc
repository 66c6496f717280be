// SPDX-License-Identifier: Apache-2.0

#include "base/http/client.h"

#include <httplib.h>

namespace weft::http {

struct Client::Connection {
  std::string url;
  httplib::Headers headers;
  httplib::Client client;

  Connection(const std::string& where, const ClientOptions& options) : url(where), client(where) {
    const auto microseconds = [](double seconds) {
      return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
    };
    client.set_connection_timeout(microseconds(options.connect_seconds));
    client.set_read_timeout(microseconds(options.answer_seconds));
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    if (!options.bearer_token.empty())
      headers.emplace("Authorization", "Bearer " + options.bearer_token);
  }

  Result<Answer> answer(const httplib::Result& result) const {
    if (!result)
      return Error("no answer from " + url + ": " + httplib::to_string(result.error()),
                   "is the server running there?");
    return Answer{.status = result->status,
                  .body = result->body,
                  .retry_after = result->get_header_value("Retry-After"),
                  .content_type = result->get_header_value("Content-Type")};
  }
};

Client::Client(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Client> Client::create(const std::string& url, const ClientOptions& options) {
  const size_t host = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const size_t slash = std::min(url.find('/', host), url.size());
  if (host == 0 || slash == host || slash + 1 < url.size())
    return Error("not the URL of a server: " + url, "like http://127.0.0.1:10000");
  std::string base = url;
  if (base.ends_with('/')) base.pop_back();
  auto connection = std::make_unique<Connection>(base, options);
  if (!connection->client.is_valid())
    return Error("not the URL of a server: " + url, "like http://127.0.0.1:10000");
  return Client(std::move(connection));
}

Result<Answer> Client::get(const std::string& path) {
  return connection_->answer(connection_->client.Get(path, connection_->headers));
}

Result<Answer> Client::post(const std::string& path, const std::string& json) {
  return connection_->answer(
      connection_->client.Post(path, connection_->headers, json, "application/json"));
}

Result<Answer> Client::post(const std::string& path, const std::string& json,
                            const std::function<bool(std::string_view)>& on_part) {
  constexpr size_t kLongestRefusal = size_t{1} << 20;
  int status = 0;
  std::string refusal;
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  request.headers = connection_->headers;
  request.set_header("Content-Type", "application/json");
  request.body = json;
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    const std::string_view part(data, size);
    if (status < 300) return on_part(part);
    refusal.append(part.substr(0, kLongestRefusal - std::min(kLongestRefusal, refusal.size())));
    return true;
  };
  Answer answer = TRY(connection_->answer(connection_->client.send(request)));
  answer.body = std::move(refusal);
  return answer;
}

Result<Answer> Client::remove(const std::string& path) {
  return connection_->answer(connection_->client.Delete(path, connection_->headers));
}

}  // namespace weft::http
