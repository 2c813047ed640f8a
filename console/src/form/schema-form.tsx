import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  choiceOf,
  choicesOf,
  initialOf,
  isSchema,
  kindOf,
  problemsOf,
  propertiesOf,
  requiredOf,
  resolve,
  type Schema,
} from './schema.ts'

interface FormProps {
  /** Absent: only JSON can be written. */
  readonly schema: Schema | undefined
  readonly value: unknown
  /** Only what is to be changed: nothing at all is fine. */
  readonly partial?: boolean
  onChange(value: unknown): void
  /** Told that what is written as JSON cannot be read. */
  onBroken(isBroken: boolean): void
}

/** A form made from a JSON Schema, and always the same as JSON. */
export function SchemaForm({ schema, value, partial = false, onChange, onBroken }: FormProps) {
  const hasForm = schema !== undefined && kindOf(schema) === 'object' && propertiesOf(schema).length > 0
  const [tab, setTab] = useState<'form' | 'json'>(hasForm ? 'form' : 'json')
  const isUntouched = partial && isSchema(value) && Object.keys(value).length === 0
  const problems = schema === undefined || isUntouched ? [] : problemsOf(schema, value ?? {})
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label="Parameters">
        {hasForm && (
          <button type="button" role="tab" aria-selected={tab === 'form'} onClick={() => setTab('form')}>
            Form
          </button>
        )}
        <button type="button" role="tab" aria-selected={tab === 'json'} onClick={() => setTab('json')}>
          JSON
        </button>
      </div>
      {tab === 'form' && schema !== undefined ? (
        <ObjectFields schema={schema} root={schema} value={value} onChange={onChange} />
      ) : (
        <JsonField label="Parameters as JSON" value={value ?? {}} onChange={onChange} onBroken={onBroken} rows={8} />
      )}
      {problems.length > 0 && (
        <ul class="problem" aria-label="What does not fit yet">
          {problems.slice(0, 6).map(problem => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface FieldProps {
  readonly name: string
  readonly schema: Schema
  readonly root: Schema
  readonly value: unknown
  readonly required?: boolean
  onChange(value: unknown): void
}

function ObjectFields({ schema, root, value, onChange }: Omit<FieldProps, 'name'>) {
  const given = isSchema(value) ? value : {}
  const set = (name: string, inner: unknown) => {
    const { [name]: _before, ...others } = given
    onChange(inner === undefined ? others : { ...others, [name]: inner })
  }
  return (
    <>
      {propertiesOf(schema).map(([name, inner]) => (
        <Field
          key={name}
          name={name}
          schema={resolve(inner, root)}
          root={root}
          value={given[name]}
          required={requiredOf(schema).includes(name)}
          onChange={changed => set(name, changed)}
        />
      ))}
    </>
  )
}

function titleOf(name: string, { title }: Schema): string {
  return typeof title === 'string' ? title : name
}

function Help({ schema }: { readonly schema: Schema }) {
  return typeof schema.description === 'string' ? <span class="help">{schema.description}</span> : null
}

function Labelled({ name, schema, required, children }: FieldProps & { readonly children: ComponentChildren }) {
  return (
    <label>
      <span>
        {titleOf(name, schema)}
        {required ? ' *' : ''}
      </span>
      {children}
      <Help schema={schema} />
    </label>
  )
}

function Field(props: FieldProps) {
  const { name, schema, root, value, required, onChange } = props
  const kind = kindOf(schema)
  if (kind === 'object')
    return (
      <fieldset>
        <legend>{titleOf(name, schema)}</legend>
        <Help schema={schema} />
        <ObjectFields schema={schema} root={root} value={value} onChange={onChange} />
      </fieldset>
    )
  if (kind === 'array') return <ArrayField {...props} />
  if (kind === 'choice') return <ChoiceField {...props} />
  if (kind === 'boolean')
    return (
      <label class="check">
        <input type="checkbox" checked={value === true} onChange={event => onChange(event.currentTarget.checked)} />
        <span>
          {titleOf(name, schema)} <Help schema={schema} />
        </span>
      </label>
    )
  if (kind === 'enum') {
    const options = schema.enum as readonly unknown[]
    const at = options.findIndex(option => JSON.stringify(option) === JSON.stringify(value))
    return (
      <Labelled {...props}>
        <select
          value={String(at)}
          required={required}
          onChange={event => onChange(options[Number(event.currentTarget.value)])}
        >
          {(at < 0 || !required) && <option value="-1">–</option>}
          {options.map((option, index) => (
            <option key={String(option)} value={String(index)}>
              {typeof option === 'string' ? option : JSON.stringify(option)}
            </option>
          ))}
        </select>
      </Labelled>
    )
  }
  if (kind === 'number')
    return (
      <Labelled {...props}>
        <input
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={numberOf(schema.minimum)}
          max={numberOf(schema.maximum)}
          required={required}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget: { value: text } }) => onChange(text === '' ? undefined : Number(text))}
        />
      </Labelled>
    )
  if (kind === 'string') {
    const shared = {
      autocomplete: 'off' as const,
      required,
      minLength: numberOf(schema.minLength),
      maxLength: numberOf(schema.maxLength),
      value: typeof value === 'string' ? value : '',
      onInput: ({ currentTarget: { value: text } }: { currentTarget: HTMLInputElement }) =>
        onChange(text === '' && !required ? undefined : text),
    }
    const isSecret = schema.writeOnly === true || schema.format === 'password'
    return (
      <Labelled {...props}>
        {isSecret ? <input type="password" {...shared} /> : <input type="text" {...shared} />}
      </Labelled>
    )
  }
  return <JsonField label={titleOf(name, schema)} value={value} onChange={onChange} onBroken={() => {}} rows={3} />
}

function ArrayField({ name, schema, root, value, onChange }: FieldProps) {
  const items = Array.isArray(value) ? value : []
  const inner = resolve(isSchema(schema.items) ? schema.items : {}, root)
  return (
    <fieldset>
      <legend>{titleOf(name, schema)}</legend>
      <Help schema={schema} />
      {items.map((item, at) => (
        <div class="item" key={at}>
          <Field
            name={`${titleOf(name, schema)} ${at + 1}`}
            schema={inner}
            root={root}
            value={item}
            onChange={changed => onChange(items.map((each, index) => (index === at ? changed : each)))}
          />
          <button
            type="button"
            aria-label={`Remove item ${at + 1}`}
            onClick={() => onChange(items.filter((_, index) => index !== at))}
          >
            Remove
          </button>
        </div>
      ))}
      <p>
        <button type="button" onClick={() => onChange([...items, initialOf(inner, root) ?? emptyOf(inner)])}>
          Add to {titleOf(name, schema)}
        </button>
      </p>
    </fieldset>
  )
}

function emptyOf(schema: Schema): unknown {
  const empty: Readonly<Record<string, unknown>> = { string: '', number: 0, boolean: false, object: {}, array: [] }
  return empty[kindOf(schema)] ?? null
}

function ChoiceField(props: FieldProps) {
  const { name, schema, root, value, onChange } = props
  const choices = choicesOf(schema)
  const [chosen, setChosen] = useState(() => choiceOf(schema, value))
  const current = choices[chosen]
  return (
    <fieldset>
      <legend>{titleOf(name, schema)}</legend>
      <Help schema={schema} />
      <label>
        Kind
        <select
          value={String(chosen)}
          onChange={event => {
            const next = Number(event.currentTarget.value)
            setChosen(next)
            onChange(choices[next] && initialOf(choices[next], root))
          }}
        >
          {choices.map((choice, at) => (
            <option key={titleOf(String(at), choice)} value={String(at)}>
              {titleOf(`${kindOf(choice)} ${at + 1}`, choice)}
            </option>
          ))}
        </select>
      </label>
      {current !== undefined && <Field {...props} name={titleOf(name, current)} schema={current} />}
    </fieldset>
  )
}

interface JsonProps {
  readonly label: string
  readonly value: unknown
  readonly rows: number
  onChange(value: unknown): void
  onBroken(isBroken: boolean): void
}

function JsonField({ label, value, rows, onChange, onBroken }: JsonProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const [problem, setProblem] = useState<string | undefined>()
  const change = (written: string) => {
    setText(written)
    try {
      onChange(written.trim() === '' ? undefined : JSON.parse(written))
      setProblem(undefined)
      onBroken(false)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      onBroken(true)
    }
  }
  return (
    <label>
      {label}
      <textarea
        class="code"
        rows={rows}
        spellcheck={false}
        value={text}
        onInput={event => change(event.currentTarget.value)}
      />
      {problem !== undefined && <span class="problem">This is not JSON yet: {problem}</span>}
    </label>
  )
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
