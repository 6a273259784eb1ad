import com.google.adk.agents.BaseAgent;
import com.google.adk.agents.LlmAgent;
import com.google.adk.models.BaseLlm;
import com.google.adk.models.BaseLlmConnection;
import com.google.adk.models.LlmRequest;
import com.google.adk.models.LlmResponse;
import com.google.adk.tools.Annotations.Schema;
import com.google.adk.tools.FunctionTool;
import com.google.adk.tools.LongRunningFunctionTool;
import com.google.adk.web.AdkWebServer;
import com.google.genai.types.Content;
import com.google.genai.types.FinishReason;
import com.google.genai.types.GenerateContentResponseUsageMetadata;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.core.Flowable;
import java.util.List;
import java.util.Map;

/** ADK's dev server with an agent whose model follows the user's message, a line for each of its turns. */
public class Server {
  public static void main(String[] args) {
    BaseAgent expert = LlmAgent.builder().name("expert").description("knows it all").model(new Scripted()).build();
    System.setProperty("server.port", System.getenv("PORT"));
    System.setProperty("server.address", "127.0.0.1");
    AdkWebServer.start(
        LlmAgent.builder().name("meteorologist").model(new Scripted()).subAgents(expert)
            .tools(FunctionTool.create(Server.class, "weather"), FunctionTool.create(Server.class, "broken"),
                LongRunningFunctionTool.create(Server.class, "approve"))
            .build());
  }

  public static Map<String, Object> weather(@Schema(name = "city", description = "where") String city) {
    return Map.of("weather", "sunny in " + city);
  }

  public static Map<String, Object> broken(@Schema(name = "reason", description = "why") String reason) {
    throw new IllegalStateException("no luck: " + reason);
  }

  public static Map<String, Object> approve(@Schema(name = "amount", description = "how much") String amount) {
    return Map.of("status", "pending");
  }

  static class Scripted extends BaseLlm {
    Scripted() {
      super("scripted");
    }

    @Override
    public Flowable<LlmResponse> generateContent(LlmRequest request, boolean stream) {
      String line = line(request.contents());
      if (line.equals("fail")) {
        return Flowable.error(new IllegalStateException("the model is on fire"));
      }
      if (line.startsWith("call ")) {
        String[] words = line.split(" ");
        return Flowable.just(whole(Part.fromFunctionCall(words[1], Map.of(words[2], words[3]))));
      }
      if (!stream) {
        return Flowable.just(whole(Part.fromText(line)));
      }
      int half = line.length() / 2;
      return Flowable.just(partial(line.substring(0, half)), partial(line.substring(half)), whole(Part.fromText(line)));
    }

    static LlmResponse partial(String text) {
      return LlmResponse.builder().content(content(Part.fromText(text))).partial(true).build();
    }

    static LlmResponse whole(Part part) {
      return LlmResponse.builder().content(content(part)).finishReason(new FinishReason("STOP"))
          .usageMetadata(GenerateContentResponseUsageMetadata.builder().promptTokenCount(100).candidatesTokenCount(3).totalTokenCount(103).build())
          .build();
    }

    static Content content(Part part) {
      return Content.builder().role("model").parts(List.of(part)).build();
    }

    /** Returns the first line that nobody has said: those after it in a conversation count, whoever said them. */
    static String line(List<Content> contents) {
      int said = 0;
      for (int i = contents.size() - 1; i >= 0; i--) {
        String text = contents.get(i).text() == null ? "" : contents.get(i).text();
        boolean foreign = text.startsWith("For context:");
        if (contents.get(i).role().orElse("").equals("user") && !text.isEmpty() && !foreign) {
          String[] lines = text.split("\n");
          return said < lines.length ? lines[said] : "Done.";
        }
        if (contents.get(i).role().orElse("").equals("model") || foreign && text.contains(" called tool ")) {
          said++;
        }
      }
      return "Done.";
    }

    @Override
    public BaseLlmConnection connect(LlmRequest request) {
      throw new UnsupportedOperationException("the dev server's live mode");
    }
  }
}
