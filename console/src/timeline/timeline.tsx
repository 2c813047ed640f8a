import { useState } from 'preact/hooks'
import { WideTable } from '../ui/basics.tsx'
import { clockTime, duration, now } from '../ui/time.tsx'
import { type Bar, type Row, type Scale, type TimelineOperation, toScale, toTimeline } from './model.ts'

const percent = (part: number) => `${(part * 100).toFixed(3)}%`

/** A worker by the end of its name, which is `host/pid/uuid`. */
export function shortWorker(owner: string | undefined): string {
  if (owner === undefined) return 'somebody'
  const [host = owner, pid] = owner.split('/')
  return pid === undefined ? host : `${host}/${pid}`
}

/** Fences are long numbers, of which the end tells two apart. */
function shortFence(fence: number | undefined): string {
  const text = String(fence ?? '')
  return text.length > 6 ? `…${text.slice(-5)}` : text
}

export function TimelineView({ operation }: { readonly operation: TimelineOperation }) {
  const [onlyFailures, setOnlyFailures] = useState(false)
  const isOpen = operation.finished_at === undefined
  const timeline = toTimeline(operation, isOpen ? now.value : 0)
  const { start, end, takeovers, attempts } = timeline
  const rows = onlyFailures ? timeline.rows.filter(({ failed }) => failed) : timeline.rows
  const scale = toScale(timeline)
  const hasFailures = timeline.rows.some(({ failed }) => failed)
  return (
    <div class="timeline">
      <div
        class="tl-grid"
        style={takeovers.length > 0 ? { gridTemplateRows: '24px' } : {}}
        role="img"
        aria-label={`Timeline over ${duration(end - start)}. The table below has the same.`}
      >
        {rows.map((row, at) => (
          <TimelineRow key={row.name} row={row} scale={scale} at={at + (takeovers.length > 0 ? 1 : 0)} />
        ))}
        <Axis scale={scale} start={start} end={end} />
        <div class="tl-rules" style={{ gridRow: `1 / span ${rows.length + 1}` }}>
          {takeovers.map(({ at, from, to, fence }) => (
            <span
              key={fence}
              class={`tl-rule${scale.at(at) > 0.5 ? ' flip' : ''}`}
              style={{ left: percent(scale.at(at)) }}
              title={`The lease ran out: fence ${fence}`}
            >
              <span>
                {shortWorker(from)} → {shortWorker(to)}
                <span class="wide-only">, fence {shortFence(fence)}</span>
              </span>
            </span>
          ))}
        </div>
      </div>
      <div class="legend">
        <span>
          <i class="bar done" />
          done
        </span>
        <span>
          <i class="bar failed" />
          failed
        </span>
        <span>
          <i class="bar running" />
          running
        </span>
        <span>
          <i class="bar wait" />
          queued or parked
        </span>
        {hasFailures && (
          <label class="check small">
            <input
              type="checkbox"
              checked={onlyFailures}
              onChange={event => setOnlyFailures(event.currentTarget.checked)}
            />
            Only steps that failed
          </label>
        )}
      </div>
      <details>
        <summary>
          As a table: {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
        </summary>
        <WideTable label="Attempts" columns={['Step', 'Attempt', 'At', 'Took', 'Result', 'Worker', 'Fence']}>
          {attempts.map(({ step, number, from, to, error, worker, fence, takenOver }) => (
            <tr key={`${step} ${number}`}>
              <td>{step}</td>
              <td>{number}</td>
              <td class="nowrap">{clockTime(from)}</td>
              <td class="nowrap">{duration(to - from)}</td>
              <td>{error === undefined ? 'done' : `failed: ${error}`}</td>
              <td>
                {shortWorker(worker)}
                {takenOver ? ' (took over)' : ''}
              </td>
              <td>{fence}</td>
            </tr>
          ))}
        </WideTable>
      </details>
    </div>
  )
}

function TimelineRow({ row, scale, at }: { readonly row: Row; readonly scale: Scale; readonly at: number }) {
  const odd = at % 2 === 1 ? ' odd' : ''
  const isStep = row.attempts > 0
  return (
    <>
      <span class={`tl-label${odd}${isStep ? '' : ' faint'}`} title={row.name} style={{ gridRow: at + 1 }}>
        {row.name}
      </span>
      <span class={`tl-track${odd}`} style={{ gridRow: at + 1 }}>
        {row.bars.map(bar => (
          <i
            key={`${bar.kind}${bar.from}`}
            class={`bar ${bar.kind}`}
            title={describe(bar)}
            style={{ left: percent(scale.at(bar.from)), width: percent(scale.at(bar.to) - scale.at(bar.from)) }}
          >
            {bar.count > 1 && <span class={`times${scale.at(bar.to) > 0.9 ? ' inside' : ''}`}>×{bar.count}</span>}
          </i>
        ))}
      </span>
      <span class={`tl-time${odd}`} style={{ gridRow: at + 1 }}>
        {row.bars.some(({ kind }) => kind !== 'wait') ? duration(row.took) : ''}
      </span>
    </>
  )
}

function describe({ kind, from, to, count, error }: Bar): string {
  const times = `${clockTime(from)}, ${duration(to - from)}`
  if (kind === 'wait') return `waited: ${times}`
  if (kind === 'running') return `running since ${times}`
  return `${count > 1 ? `${count} times ` : ''}${kind}: ${times}${error === undefined ? '' : `\n${error}`}`
}

function Axis({ scale, start, end }: { readonly scale: Scale; readonly start: number; readonly end: number }) {
  return (
    <span class="tl-axis">
      <span class="first" style={{ left: '0' }}>
        {clockTime(start)}
      </span>
      {scale.gaps.map(({ from, to }) => {
        const middle = (scale.at(from) + scale.at(to)) / 2
        if (middle < 0.14 || middle > 0.86) return null
        return (
          <span key={from} class="gap" style={{ left: percent(middle) }}>
            ⋯ {duration(to - from)}
          </span>
        )
      })}
      <span class="last" style={{ left: '100%' }}>
        +{duration(end - start)}
      </span>
    </span>
  )
}
