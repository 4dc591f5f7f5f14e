// The resources of an operation, the worst first.
import type { ResourceReport } from "../api/types.ts";
import { ErrorText } from "../parts/failed.tsx";
import { Link } from "../parts/link.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { TONES, reportMark } from "../parts/tone.ts";
import { deploymentAddress } from "../router.ts";

/** Of more resources, the worst are drawn. */
const DRAWN = 300;

interface Properties {
  reports: ResourceReport[];
  isDone: boolean;
  deployment: string;
}

export function Reports({ reports, isDone, deployment }: Properties) {
  if (reports.length === 0) {
    return isDone ? (
      <p>
        <Link to={deploymentAddress(deployment)}>The deployment</Link> shows what its objects are now.
      </p>
    ) : null;
  }
  const rank = (report: ResourceReport) => TONES.indexOf(reportMark(report).tone);
  const sorted = [...reports].sort((one, other) => rank(other) - rank(one));
  return (
    <table class="cards">
      <caption class="quiet">
        {reports.length} resources{reports.length > DRAWN ? `, the ${DRAWN} worst are shown` : ""}
      </caption>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">State</th>
          <th scope="col">Done</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {sorted.slice(0, DRAWN).map((report, index) => (
          <tr key={index}>
            <th scope="row">
              {plain(report.name)} <span class="quiet">{plain(report.type)}</span>
            </th>
            <td data-label="State">
              <State {...reportMark(report)} />
            </td>
            <td data-label="Done">{report.action?.toLowerCase() ?? "–"}</td>
            <td data-label="Why">
              {report.error ? <ErrorText error={report.error} /> : plain(report.reason ?? "")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
