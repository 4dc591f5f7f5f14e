import { render } from "preact";
import { ask } from "./api/session.ts";
import { App } from "./app.tsx";
import "./page.css";

const place = document.getElementById("page");
if (place) render(<App />, place);
void ask();
