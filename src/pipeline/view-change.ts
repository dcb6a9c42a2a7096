// What a reload changed, as views see it. Pure.

export interface ViewChangeOptions {
  /** Servers that are there and are as they were. */
  readonly kept: ReadonlySet<string>;
  /** Servers that came, went, or came back as others. */
  readonly changed: ReadonlySet<string>;
  /** Who may do what, or who is who, was changed. */
  readonly rights: boolean;
}

export class ViewChange {
  readonly #options: ViewChangeOptions;

  constructor(options: ViewChangeOptions) {
    this.#options = options;
  }

  /** Whether the servers of a view are not all the ones that they were. */
  hasOtherServers(view: string | undefined): boolean {
    const { kept, changed } = this.#options;
    // What is no server is a view of several.
    return view !== undefined && kept.has(view) ? false : changed.size > 0;
  }

  /** Whether what a caller sees of a view may not be what it was. */
  concerns(view: string | undefined): boolean {
    return this.#options.rights || this.hasOtherServers(view);
  }
}
